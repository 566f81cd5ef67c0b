import { DaybookError } from '../../client/daybook-error.ts'
import type { Daybook } from '../../client/daybook.ts'
import type { EventFilter } from '../../client/filter.ts'
import { isWanted } from '../../client/filter.ts'
import type { StreamStatus } from '../../client/stream.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { asCommandError, asking, openClient } from '../terminal/client.ts'
import { openCursorFile } from './cursor-file.ts'
import type { EventFormat } from './output-events.ts'
import { openEventsText } from './output-events.ts'
import { print, quoted } from '../terminal/output.ts'
import { strayCursor } from './stray-cursor.ts'
import type { CommandError, ExitCode, World } from '../terminal/world.ts'
import { tell } from '../terminal/world.ts'

/** Columns where a table is asked for and there is no terminal. */
const COLUMNS_DEFAULT = 120

/** Where reading begins: after a seq, at a moment, with the last events, or at the head. */
export type TailStart = Readonly<
  { is: 'after'; seq: number } | { is: 'since'; atMs: Ms } | { is: 'last'; count: number } | { is: 'head' }
>

type TailSettings = Readonly<{
  url: string
  start: TailStart
  filter: EventFilter
  /** Events after which it ends, or null. */
  count: number | null
  /** Whether it goes on past what was the head at the start. */
  follow: boolean
  /** A file that keeps where it was; what it holds comes before `start`. */
  cursor: string | null
  /** Null for a table on a terminal and lines elsewhere. */
  format: EventFormat | null
}>

/** How far a run has come. */
type Run = { shown: number; read: number; seq: number }

/** Prints events as they are published, and says at its end from where to go on. An interrupt is a normal end. */
export async function tail(settings: TailSettings, world: World): Promise<ExitCode> {
  const { url, filter, count, follow } = settings
  const daybook = openClient(url, world)
  const file = settings.cursor === null ? null : openCursorFile(settings.cursor)
  const columns = world.columns?.() ?? null
  const text = openEventsText(settings.format ?? (columns === null ? 'jsonl' : 'table'), {
    columns: columns ?? COLUMNS_DEFAULT,
    drawn: world.drawn === true,
  })
  const status = await asking(() => daybook.status({ signal: world.stop })).catch((error: unknown) => {
    if (world.stop.aborted) return null
    throw error
  })
  if (status === null) return 0
  const { log, head, following } = status
  const run: Run = { shown: 0, read: 0, seq: 0 }

  const left = (): number => (count === null ? Infinity : count - run.shown)
  const isOver = (): boolean =>
    world.stop.aborted || !isRead || left() <= 0 || (!follow && run.seq >= head.seq)
  let isRead = true

  /** Shows what is wanted of events that are everything up to a seq. */
  async function show(events: readonly EventWire[], upTo: number): Promise<void> {
    const wanted = events.filter((event) => isWanted(filter, event)).slice(0, left())
    isRead = await print(text(wanted), world)
    // What nobody takes stays behind the cursor.
    if (!isRead) return
    run.shown += wanted.length
    run.seq = left() > 0 ? upTo : (wanted.at(-1)?.seq ?? upTo)
    run.read += events.filter(({ seq }) => seq <= run.seq).length
    // A cursor ahead of the log is refused, and must not be kept.
    if (run.read > 0 || run.seq <= head.seq) file?.save({ log, seq: run.seq })
  }

  const stray = (of: string | null, seq: number): Promise<CommandError> =>
    asking(() =>
      strayCursor({ log: of, seq, url, resume: (at) => anewCommand(settings, at) }, daybook, world),
    )

  try {
    const kept = file?.kept ?? null
    if (kept !== null && kept.log !== log) throw await stray(kept.log, kept.seq)
    const start: TailStart = kept === null ? settings.start : { is: 'after', seq: kept.seq }
    const { after, events } = await placeOf(daybook, start, head.seq, filter, world.stop)
    // A node that follows another may catch up; the one that publishes has nobody to wait for.
    if (after > head.seq && (!follow || following.state === 'leader')) {
      throw await stray(kept?.log ?? null, after)
    }
    if (world.interactive) tell(world, `${new URL(url).host} · from seq ${after + 1} on · Ctrl-C ends it`)
    await show(events, after)
    const asked = { after, signal: world.stop, onStatus: openOutages(world) }
    if (!isOver()) {
      for await (const batch of daybook.follow(asked).batches()) {
        const due = follow ? batch : batch.filter(({ seq }) => seq <= head.seq)
        await show(due, due.at(-1)?.seq ?? run.seq)
        if (isOver()) break
      }
    }
  } catch (error) {
    if (!world.stop.aborted) {
      if (run.read > 0) report(settings, run, world)
      // The log was exchanged, or became shorter, while it was read.
      if (isStray(error)) throw await stray(log, run.seq)
      throw asCommandError(error)
    }
  }
  report(settings, run, world)
  return 0
}

function isStray(error: unknown): boolean {
  return error instanceof DaybookError && /^(?:another-log|cursor-ahead)$/.test(error.code)
}

/** The cursor to follow from, and the events before it that are to be shown first. */
async function placeOf(
  daybook: Daybook,
  start: TailStart,
  head: number,
  filter: EventFilter,
  signal: AbortSignal,
): Promise<Readonly<{ after: number; events: readonly EventWire[] }>> {
  switch (start.is) {
    case 'after':
      return { after: start.seq, events: [] }
    case 'since': {
      const { page } = await daybook.page({ from: start.atMs, limit: 1, signal })
      return { after: page.after ?? 0, events: [] }
    }
    case 'last': {
      const events: EventWire[] = []
      const asked = { ...filter, order: 'desc', before: head + 1, limit: start.count, signal } as const
      if (start.count > 0) {
        for await (const event of daybook.events(asked)) if (events.push(event) >= start.count) break
      }
      return { after: head, events: events.toReversed() }
    }
    case 'head':
      return { after: head, events: [] }
  }
}

/** Tells of a connection that stays broken, once, and when it is back. */
function openOutages(world: World): (status: StreamStatus) => void {
  let failures = 0
  let since = 0
  return ({ state }) => {
    if (state === 'reconnecting' || state === 'offline') {
      failures += 1
      if (failures === 1) since = world.monotonicMs()
      // A stream ends now and then as it should, and the first attempt finds the next one.
      if (failures === 2) tell(world, '— no connection; trying again —')
    }
    if (state === 'live' || state === 'catching-up') {
      const seconds = Math.round((world.monotonicMs() - since) / 1_000)
      if (failures >= 2) tell(world, `— connected again after ${seconds} s; nothing is missing —`)
      failures = 0
    }
  }
}

function report(settings: TailSettings, { shown, read, seq }: Run, world: World): void {
  tell(world, `${shown} shown, ${read} read, complete up to seq ${seq}`)
  tell(world, `resume: ${resumeCommand(settings, seq)}`)
}

/** The command that goes on after a seq. */
function resumeCommand({ url, filter, follow, cursor, format }: TailSettings, seq: number): string {
  const { type = [], kind, contestId, nonzero = false } = filter
  const words = [
    ...(type.length > 0 ? ['--type', type.join(',')] : []),
    ...(kind === undefined ? [] : ['--kind', kind]),
    ...(contestId === undefined ? [] : ['--contest-id', String(contestId)]),
    ...(nonzero ? ['--nonzero'] : []),
    ...(follow ? [] : ['--no-follow']),
    ...(format === null ? [] : ['--format', format]),
    ...(cursor === null ? ['--after', String(seq)] : ['--cursor', cursor]),
  ]
  return ['daybook', 'tail', url, ...words].map(quoted).join(' ')
}

/** The command that begins anew after a seq: a cursor that is kept would come before it. */
function anewCommand(settings: TailSettings, seq: number): string {
  const { cursor } = settings
  const words = resumeCommand({ ...settings, cursor: null }, seq)
  return cursor === null ? words : `${words} --cursor ${quoted(cursor)}, once that file is moved away`
}
