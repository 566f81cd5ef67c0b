import type { Ask } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import type { Daybook, Events } from '../../client/daybook.ts'
import type { DetailedEvent, DetailsByEvent } from '../../client/event-details.ts'
import { pagesOf } from '../../client/event-pages.ts'
import { type EventFilter, isWanted } from '../../client/filter.ts'
import type { FollowAsked } from '../../client/follow.ts'
import type { StreamStatus } from '../../client/stream.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Status } from '../../protocol/status-resources.ts'
import { askedCovering } from '../../verify/reading/node-lag.ts'
import { asCommandError, withCommandErrors, openClient, pauseOf } from '../terminal/client.ts'
import { openCursorFile } from './cursor-file.ts'
import { type EventFormat, openEventsText } from './output-events.ts'
import { print, shellQuoted } from '../terminal/output.ts'
import { unknownCursorError } from './unknown-cursor.ts'
import { type CommandError, type ExitCode, tell, type World } from '../terminal/world.ts'

/** Width of a table that does not go to a terminal. */
const COLUMNS_DEFAULT = 120

/** Start of reading: after a seq, at a moment, with the last events, or at the head. */
export type TailStart = Readonly<
  { is: 'after'; seq: number } | { is: 'since'; atMs: Ms } | { is: 'last'; count: number } | { is: 'head' }
>

type TailSettings = Readonly<{
  url: string
  start: TailStart
  filter: EventFilter
  /** Number of events after which it ends, or null. */
  count: number | null
  /** Whether it waits for events after the head that the log had at the start. */
  follow: boolean
  /** Path of the cursor file; a saved cursor overrides `start`. */
  cursor: string | null
  /** Null for a table on a terminal and JSON lines elsewhere. */
  format: EventFormat | null
}>

/** Progress of a run: events shown, events read, and the last seq that was read. */
type TailProgress = { shown: number; read: number; seq: number }

/** Prints events as they are published, and at its end the command that continues. An interrupt is a normal end. */
export async function tail(settings: TailSettings, world: World): Promise<ExitCode> {
  const { url, filter, count, follow } = settings
  const daybook = openClient(url, world)
  using file = settings.cursor === null ? null : openCursorFile(settings.cursor, world.monotonicMs)
  const columns = world.columns?.() ?? null
  const format = settings.format ?? (columns === null ? 'jsonl' : 'table')
  const details: DetailsByEvent | undefined = format === 'table' ? new WeakMap() : undefined
  const text = openEventsText(format, {
    columns: columns ?? COLUMNS_DEFAULT,
    drawn: world.drawn === true,
  })
  const status = await statusUnlessStopped(daybook, world)
  if (status === null) return 0
  const { log, head, following } = status
  // A node that follows may still catch up.
  const mayCatchUp = following.state === 'follower'
  const run: TailProgress = { shown: 0, read: 0, seq: 0 }

  const left = (): number => (count === null ? Infinity : count - run.shown)
  const isOver = (): boolean =>
    world.stop.aborted || !isRead || left() <= 0 || (!follow && run.seq >= head.seq)
  let isRead = true

  /** Prints the events that match the filter. `events` are all events of the log up to `upTo`. */
  async function show(events: readonly EventWire[], upTo: number): Promise<void> {
    const wanted = events.filter((event) => isWanted(filter, event)).slice(0, left())
    isRead = await print(text(wanted, details), world)
    // The cursor does not pass events that could not be written.
    if (!isRead) return
    run.shown += wanted.length
    run.seq = left() > 0 ? upTo : (wanted.at(-1)?.seq ?? upTo)
    run.read += events.filter(({ seq }) => seq <= run.seq).length
    // A cursor ahead of the log would be refused by the next run.
    if (run.read > 0 || run.seq <= head.seq) file?.save({ log, seq: run.seq }, run.seq < head.seq)
  }

  const cursorError = (ofLog: string | null, seq: number): Promise<CommandError> => {
    const cursor = { log: ofLog, seq, url, resume: (at: number) => restartWords(settings, at) }
    return withCommandErrors(() => unknownCursorError(cursor, daybook, world))
  }

  try {
    const saved = file?.saved ?? null
    if (saved !== null && saved.log !== log) throw await cursorError(saved.log, saved.seq)
    const start: TailStart = saved === null ? settings.start : { is: 'after', seq: saved.seq }
    const { after, events } = await startOf(daybook, start, head.seq, filter, details, world.stop)
    if (after > head.seq && (!follow || !mayCatchUp)) {
      throw await cursorError(saved?.log ?? null, after)
    }
    if (world.interactive) tell(world, startLine(url, events[0]?.seq ?? after + 1))
    await show(events, after)
    const options = { after, signal: world.stop, onStatus: openConnectionNotices(world) }
    if (!isOver()) {
      for await (const batch of followed(daybook, options, details)) {
        const due = follow ? batch : batch.filter(({ seq }) => seq <= head.seq)
        await show(due, due.at(-1)?.seq ?? run.seq)
        if (isOver()) break
      }
    }
  } catch (error) {
    if (!world.stop.aborted) {
      if (run.read > 0) report(settings, run, world)
      // The log was replaced or shortened while it was read.
      if (isCursorError(error)) throw await cursorError(log, run.seq)
      throw asCommandError(error)
    }
  }
  report(settings, run, world)
  return 0
}

/** Line on a terminal before the first event that is shown or waited for. */
function startLine(url: string, seq: number): string {
  return `${new URL(url).host} · from seq ${seq} · press Ctrl-C to stop`
}

/** Status of the service; null when the command was stopped in the meantime. */
async function statusUnlessStopped(daybook: Daybook, { stop: signal }: World): Promise<Status | null> {
  try {
    return await withCommandErrors(() => daybook.status({ signal }))
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

/** Batches of new events. Their details are asked for only to be shown. */
function followed(
  daybook: Daybook,
  asked: FollowAsked,
  details: DetailsByEvent | undefined,
): AsyncIterable<readonly EventWire[]> {
  return details === undefined
    ? daybook.follow(asked).batches()
    : keepDetails(daybook.follow({ ...asked, details: true }), details)
}

/** Yields the events of each batch, and keeps their details. */
async function* keepDetails(
  loop: Events<DetailedEvent>,
  kept: DetailsByEvent,
): AsyncGenerator<readonly EventWire[], void, undefined> {
  for await (const batch of loop.batches()) {
    for (const { event, details } of batch) if (details !== null) kept.set(event, details)
    yield batch.map(({ event }) => event)
  }
}

function isCursorError(error: unknown): boolean {
  return error instanceof DaybookError && /^(?:another-log|cursor-ahead)$/.test(error.code)
}

/** Cursor to follow from, and the events before it that are printed first. */
async function startOf(
  daybook: Daybook,
  start: TailStart,
  head: number,
  filter: EventFilter,
  details: DetailsByEvent | undefined,
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
      const query = {
        ...filter,
        order: 'desc',
        before: head + 1,
        limit: start.count,
        signal,
        details,
      } as const
      if (start.count > 0) {
        const batches = pagesOf(openCovering(daybook, head, signal), query)
        for await (const batch of batches) if (events.push(...batch) >= start.count) break
      }
      return { after: head, events: events.slice(0, start.count).toReversed() }
    }
    case 'head':
      return { after: head, events: [] }
  }
}

/** Asks again while the node that answers is behind `head`: it would leave out the events that it lacks. */
function openCovering({ ask }: Daybook, head: number, signal: AbortSignal): Pick<Ask, 'get'> {
  return {
    get: (path, options) => askedCovering(pauseOf(signal), path, head, () => ask.get(path, options)),
  }
}

/** Reports once that the connection stays broken, and once that it is back. */
function openConnectionNotices(world: World): (status: StreamStatus) => void {
  let failures = 0
  let since = 0
  return ({ state }) => {
    if (state === 'reconnecting' || state === 'offline') {
      failures += 1
      if (failures === 1) since = world.monotonicMs()
      // Streams end regularly, and then the first attempt connects again.
      if (failures === 2) tell(world, '— no connection; trying again —')
    }
    if (state === 'live' || state === 'catching-up') {
      const seconds = Math.round((world.monotonicMs() - since) / 1_000)
      if (failures >= 2) tell(world, `— connected again after ${seconds} s; nothing is missing —`)
      failures = 0
    }
  }
}

function report(settings: TailSettings, { shown, read, seq }: TailProgress, world: World): void {
  tell(world, `${shown} shown, ${read} read, complete up to seq ${seq}`)
  tell(world, `resume: ${world.program} ${resumeWords(settings, seq)}`)
}

/** Words after those of the program that continue after a seq. */
function resumeWords({ url, filter, follow, cursor, format }: TailSettings, seq: number): string {
  const { type, kind, contestId, nonzero = false } = filter
  const words = [
    ...listWords('--type', type),
    ...listWords('--kind', kind),
    ...listWords('--contest-id', contestId),
    ...(nonzero ? ['--nonzero'] : []),
    ...(follow ? [] : ['--no-follow']),
    ...(format === null ? [] : ['--format', format]),
    ...(cursor === null ? ['--after', String(seq)] : ['--cursor', cursor]),
  ]
  return ['tail', url, ...words].map(shellQuoted).join(' ')
}

type Value = string | number

/** An option with its values, or nothing. */
function listWords(option: string, given: Value | readonly Value[] | undefined): readonly string[] {
  const values = [given ?? []].flat()
  return values.length === 0 ? [] : [option, values.join(',')]
}

/** Words that begin again after a seq. A saved cursor would override it, so its file must be moved away. */
function restartWords(settings: TailSettings, seq: number): string {
  const { cursor } = settings
  const words = resumeWords({ ...settings, cursor: null }, seq)
  return cursor === null ? words : `${words} --cursor ${shellQuoted(cursor)}, once that file is moved away`
}
