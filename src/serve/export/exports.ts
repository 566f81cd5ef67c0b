import type { Seq } from '../../protocol/seq.ts'
import type { Reply, Route, StreamAsk } from '../http/route.ts'
import { csvHeader } from '../api/events-csv.ts'
import { openStallWatch, waitedMs } from '../request/stall-watch.ts'
import { openTurns } from '../fairness/lane-turns.ts'
import { type ExportLimits, exportLimits } from './export-limits.ts'
import {
  type Began,
  expectedEnd,
  type ExportEnd,
  type ExportRun,
  openRun,
  writeBytes,
  writeRows,
} from './export-run.ts'
import { answerWhole, type WholeSettings, withWhole } from './whole-answer.ts'

type ExportSettings = WholeSettings &
  Readonly<{
    /** Receives an error thrown by a read of the store. The export that read is broken off. */
    report: (error: unknown) => void
    /** Called when an export is cut because its reader takes nothing; `seq` is the last one read for it. */
    onStalled: (seq: Seq) => void
    limits?: Partial<ExportLimits>
  }>

/** Counts of one thread's exports since it started. */
type ExportCounts = { open: number; ended: Record<ExportEnd, number> }

/** The whole CSV answers of one thread. */
export type Exports = Disposable &
  Readonly<{
    /** The routes, of which those of the log's events also answer whole CSV files. */
    over(routes: readonly Route[]): readonly Route[]
    counts(): Readonly<ExportCounts>
  }>

/** Opens the exports of one thread: all share one queue of turns and one timer. */
export function openExports(settings: ExportSettings): Exports {
  const { monotonicMs, report } = settings
  const limits = exportLimits(settings.limits)
  const sending = openSending(settings, limits)
  const watch = openStallWatch<ExportRun>(limits.lookMs, ({ response }) => response.req.socket)

  function look(): void {
    const now = monotonicMs()
    for (const run of sending.runs) {
      if (waitedMs(run, now) >= limits.stallMs) {
        sending.breakOff(run, 'stalled')
        settings.onStalled(run.scannedTo)
      } else run.place.expectEnd(expectedEnd(run, now, limits))
    }
    watch(sending.runs, now).catch(report)
  }

  const beat = setInterval(look, limits.tickMs).unref()
  const handle = (ask: StreamAsk): Reply => answerWhole(settings, limits, ask, sending.begin)
  return {
    over: (routes) => routes.map((route) => withWhole(route, handle)),
    counts: () => ({ open: sending.runs.size, ended: { ...sending.ended } }),
    [Symbol.dispose]() {
      clearInterval(beat)
      sending.close()
    },
  }
}

type Sending = Readonly<{
  runs: ReadonlySet<ExportRun>
  ended: ExportCounts['ended']
  begin(began: Began): void
  /** Closes the connection without the last chunk, so that the download fails visibly. */
  breakOff(run: ExportRun, why: ExportEnd): void
  close(): void
}>

/** Opens the sending of exports: each has one write in flight at most, and takes a turn when the kernel has accepted it. */
function openSending({ reader, monotonicMs, report }: ExportSettings, limits: ExportLimits): Sending {
  const runs = new Set<ExportRun>()
  const ended: ExportCounts['ended'] = { whole: 0, client: 0, stalled: 0, error: 0 }
  const turns = openTurns<ExportRun>({
    monotonicMs,
    sliceMs: { live: limits.sliceMs, history: limits.sliceMs },
    take(run, now) {
      if (run.ended) return
      try {
        writeRows(reader, run, limits, now)
      } catch (error) {
        report(error)
        breakOff(run, 'error')
      }
    },
  })

  function goOn(run: ExportRun): void {
    if (run.ended) return
    if (!run.done) turns.add(run, 'history')
    else {
      release(run, 'whole')
      run.response.end()
    }
  }

  function release(run: ExportRun, why: ExportEnd): void {
    if (run.ended) return
    run.ended = true
    ended[why] += 1
    runs.delete(run)
    run.place.release()
  }

  function breakOff(run: ExportRun, why: ExportEnd): void {
    release(run, why)
    run.response.destroy()
  }

  return {
    runs,
    ended,
    begin(began) {
      const run = openRun(began, monotonicMs(), goOn)
      runs.add(run)
      // A response that is closed already emits no more events.
      if (run.response.destroyed) {
        release(run, 'client')
        return
      }
      run.response.once('close', () => release(run, 'client'))
      writeBytes(run, Buffer.concat([csvHeader(run.details), began.rows.bytes]), run.startedAt)
    },
    breakOff,
    close() {
      turns.close()
      for (const run of runs) breakOff(run, 'error')
    },
  }
}
