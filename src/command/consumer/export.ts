import type { Daybook } from '../../client/daybook.ts'
import type { EventFilter } from '../../client/filter.ts'
import { isWanted } from '../../client/filter.ts'
import { ARCHIVE_EVENTS_MIN } from '../../client/follow.ts'
import { noGap } from '../../client/event-pages.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { asCommandError, openClient } from '../terminal/client.ts'
import type { EventFormat } from './output-events.ts'
import { openEventsText } from './output-events.ts'
import { print, quoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { strayCursor } from './stray-cursor.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

type ExportSettings = Readonly<{
  url: string
  /** The half-open range of moments, and the exclusive cursor; the later of both lower bounds wins. */
  from: Ms | null
  to: Ms | null
  after: number
  filter: EventFilter
  format: Exclude<EventFormat, 'table'>
}>

/** A stretch of the log that is read in one way: a month's file, or pages. `after` exclusive, `end` inclusive. */
export type ExportPart = Readonly<{ month: string | null; after: number; end: number }>

/**
 * Prints every event of a range: whole months from their files, the rest by pages, so that a year costs a dozen
 * requests. What is printed is complete: seqs that are missing end it.
 */
export async function exportEvents(settings: ExportSettings, world: World): Promise<ExitCode> {
  const { filter, format, from, to } = settings
  if (from !== null && to !== null && from >= to) throw new CommandError(2, '--from must be before --to')
  const daybook = openClient(settings.url, world)
  const text = openEventsText(format, { columns: 0, drawn: false })
  const progress = openProgress('exporting', 'events read', world)
  const run = { printed: 0, seq: settings.after }
  try {
    const { after, end, head, months } = await boundsOf(daybook, settings, world.stop)
    if (settings.after > head && settings.after > (await daybook.status({ signal: world.stop })).head.seq) {
      const cursor = { log: null, seq: settings.after, url: settings.url }
      const resume = (seq: number): string => `daybook export ${quoted(settings.url)} --after ${seq}`
      throw await strayCursor({ ...cursor, resume }, daybook, world)
    }
    run.seq = after
    // A file without events has its header all the same.
    await print(text([]), world)
    for (const stretch of stretchesOf(months, after, end)) {
      for await (const events of eventsOf(daybook, stretch, world.stop)) {
        const due = events.filter(({ seq }) => seq <= stretch.end)
        const wanted = due.filter((event) => isWanted(filter, event))
        for (const { seq } of due) {
          noGap(run.seq, seq)
          run.seq = seq
        }
        if (!(await print(text(wanted), world))) return 0
        run.printed += wanted.length
        progress.at(run.seq - after, end - after)
        if (run.seq >= stretch.end) break
      }
      noGap(run.seq, stretch.end + 1)
    }
    progress.end()
    tell(
      world,
      end > after ? `${run.printed} events of seq ${after + 1} to ${end}` : 'the range has no events',
    )
    return 0
  } catch (error) {
    progress.end()
    if (!world.stop.aborted) {
      if (run.printed > 0) tell(world, `not complete: it ends after seq ${run.seq}`)
      throw asCommandError(error)
    }
    throw new CommandError(1, `stopped: --after ${run.seq} goes on from there`, { cause: error })
  } finally {
    progress.end()
  }
}

type Month = Readonly<{ month: string; firstSeq: number | null; lastSeq: number | null }>
type Bounds = Readonly<{ after: number; end: number; head: number; months: readonly Month[] }>

/** Moments become seqs, and the head is fixed: what is published meanwhile is not of this export. */
async function boundsOf(
  daybook: Daybook,
  { from, to, after }: ExportSettings,
  signal: AbortSignal,
): Promise<Bounds> {
  const { months } = await daybook.archive({ signal })
  const head = months.at(-1)?.lastSeq ?? 0
  const seqBefore = async (time: Ms): Promise<number> =>
    (await daybook.page({ from: time, limit: 1, signal })).page.after ?? 0
  return {
    after: Math.max(after, from === null ? 0 : await seqBefore(from)),
    end: Math.min(head, to === null ? head : await seqBefore(to)),
    head,
    months,
  }
}

/** How a range is read: by its file where a month has more of it than a few pages hold, else by pages. */
export function stretchesOf(months: readonly Month[], after: number, end: number): readonly ExportPart[] {
  const stretches: ExportPart[] = []
  for (const { month, firstSeq, lastSeq } of months) {
    if (firstSeq === null || lastSeq === null) continue
    const [from, to] = [Math.max(after, firstSeq - 1), Math.min(end, lastSeq)]
    if (to <= from) continue
    const last = stretches.at(-1)
    const isFile = to - from >= ARCHIVE_EVENTS_MIN
    if (!isFile && last?.month === null) stretches[stretches.length - 1] = { ...last, end: to }
    else stretches.push({ month: isFile ? month : null, after: from, end: to })
  }
  return stretches
}

function eventsOf(
  daybook: Daybook,
  { month, after, end }: ExportPart,
  signal: AbortSignal,
): AsyncIterable<readonly EventWire[]> {
  if (month !== null) return daybook.month(month, { after, signal }).batches()
  return daybook.events({ after, limit: Math.min(10_000, end - after), signal }).batches()
}
