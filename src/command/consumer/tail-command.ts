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
import { PAGE_LIMIT_MAX, SEQ_MAX } from '../../protocol/parameters.ts'
import type { Status } from '../../protocol/endpoints/description-endpoints.ts'
import { openCursorFile } from './cursor-file.ts'
import {
  filterOf,
  type FilterOptions,
  filterOptions,
  OPTION_TIME_FORMS,
  pastTimeOption,
  seqNumber,
} from './event-options.ts'
import { EVENT_FORMATS, type EventFormat, openEventsText } from './output-events.ts'
import { unknownCursorError } from './unknown-cursor.ts'
import { asCommandError, openClient, pauseOf, withCommandErrors } from '../terminal/client.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import type { CommandError } from '../terminal/command-error.ts'
import { askedCovering } from '../../verify/reading/live-source.ts'
import { optionOf, URL_ARGUMENT, wholeBetween } from '../terminal/options.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { print, shellQuoted } from '../terminal/output.ts'

/** Width of a table that is not printed to a terminal. */
const COLUMNS_DEFAULT = 120

type TailOptions = FilterOptions &
  Readonly<{
    after?: number
    from?: Ms
    last?: number
    count?: number
    follow: boolean
    cursor?: string
    format?: EventFormat
  }>

/** The command `tail`. */
export function tailCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('tail')
  return {
    name: 'tail',
    description: 'follow the log: a table on a terminal, lines as in the archive elsewhere',
    arguments: [URL_ARGUMENT],
    options: [
      option('--after <seq>', 'begin after this seq').argParser(seqNumber).conflicts(['from', 'last']),
      option('--from <time>', `begin at this moment: ${OPTION_TIME_FORMS}`)
        .argParser(pastTimeOption(context.now))
        .conflicts('last'),
      option('-n, --last <n>', 'begin with the last n events that match the filter').argParser(
        wholeBetween(0, PAGE_LIMIT_MAX),
      ),
      option('--no-follow', 'end at the head that the log has at the start'),
      option('--count <n>', 'end after this many events').argParser(wholeBetween(1, SEQ_MAX)),
      option(
        '--cursor <file>',
        'file that keeps the cursor between runs; once it exists, it overrides --after, --from and --last',
      ),
      option('--format <name>', 'format of events (default: table on a terminal, jsonl elsewhere)').choices(
        EVENT_FORMATS,
      ),
      ...filterOptions(option),
    ],
    help: `Examples:
  daybook tail https://data.example.org
  daybook tail https://data.example.org --from 24h --type payout --no-follow | jq -r .kots
  daybook tail https://data.example.org --cursor .daybook-cursor >> events.jsonl`,
    run: (url: string, options: TailOptions) => tail({ ...options, url, filter: filterOf(options) }, context),
  }
}

type TailSettings = Omit<TailOptions, keyof FilterOptions> & Readonly<{ url: string; filter: EventFilter }>

/** Progress of a run: shown events, read events, and the last read seq. */
type TailProgress = { shown: number; read: number; seq: number }

/** Prints events as they are published, and at the end the command that continues. An interrupt is a normal end. */
async function tail(settings: TailSettings, context: CommandContext): Promise<ExitCode> {
  const { url, filter, count = Infinity, follow } = settings
  const daybook = openClient(url, context)
  using file = settings.cursor === undefined ? null : openCursorFile(settings.cursor, context.monotonicMs)
  const columns = context.columns?.() ?? null
  const format = settings.format ?? (columns === null ? 'jsonl' : 'table')
  const details: DetailsByEvent | undefined = format === 'table' ? new WeakMap() : undefined
  const text = openEventsText(format, {
    columns: columns ?? COLUMNS_DEFAULT,
    drawn: context.drawn === true,
  })
  const status = await statusUnlessStopped(daybook, context)
  if (status === null) return 0
  const { log, head, following } = status
  // A node that follows may still catch up.
  const mayCatchUp = following.state === 'follower'
  const run: TailProgress = { shown: 0, read: 0, seq: 0 }

  const left = (): number => count - run.shown
  const isOver = (): boolean =>
    context.stop.aborted || !isRead || left() <= 0 || (!follow && run.seq >= head.seq)
  let isRead = true

  /** Prints the events that match the filter. `events` are all events of the log up to `upTo`. */
  async function show(events: readonly EventWire[], upTo: number): Promise<void> {
    const wanted = events.filter((event) => isWanted(filter, event)).slice(0, left())
    isRead = await print(text(wanted, details), context)
    // The cursor does not pass events that could not be written.
    if (!isRead) return
    run.shown += wanted.length
    run.seq = left() > 0 ? upTo : (wanted.at(-1)?.seq ?? upTo)
    run.read += events.filter(({ seq }) => seq <= run.seq).length
    // The next run would refuse a cursor ahead of the log.
    if (run.read > 0 || run.seq <= head.seq) file?.save({ log, seq: run.seq }, run.seq < head.seq)
  }

  const cursorError = (ofLog: string | null, seq: number): Promise<CommandError> => {
    const cursor = { log: ofLog, seq, url, resume: (at: number) => restartWords(settings, at) }
    return withCommandErrors(() => unknownCursorError(cursor, daybook, context))
  }

  try {
    const saved = file?.saved ?? null
    if (saved !== null && saved.log !== log) throw await cursorError(saved.log, saved.seq)
    const start = saved === null ? settings : { after: saved.seq, filter }
    const { after, events } = await startOf(daybook, start, head.seq, details, context.stop)
    if (after > head.seq && (!follow || !mayCatchUp)) {
      throw await cursorError(saved?.log ?? null, after)
    }
    if (context.interactive) printNotice(context, startLine(url, events[0]?.seq ?? after + 1))
    await show(events, after)
    const options = { after, signal: context.stop, onStatus: openConnectionNotices(context) }
    if (!isOver()) {
      for await (const batch of followed(daybook, options, details)) {
        const due = follow ? batch : batch.filter(({ seq }) => seq <= head.seq)
        await show(due, due.at(-1)?.seq ?? run.seq)
        if (isOver()) break
      }
    }
  } catch (error) {
    if (!context.stop.aborted) {
      if (run.read > 0) report(settings, run, context)
      // The log was replaced or shortened while it was read.
      if (isCursorError(error)) throw await cursorError(log, run.seq)
      throw asCommandError(error)
    }
  }
  report(settings, run, context)
  return 0
}

/** First line on a terminal, before any event is shown or awaited. */
function startLine(url: string, seq: number): string {
  return `${new URL(url).host} · from seq ${seq} · press Ctrl-C to stop`
}

/** Status of the service; null if the command was stopped meanwhile. */
async function statusUnlessStopped(
  daybook: Daybook,
  { stop: signal }: CommandContext,
): Promise<Status | null> {
  try {
    return await withCommandErrors(() => daybook.status({ signal }))
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

/** Batches of new events. Details are requested only to be shown. */
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
  { after, from, last = 0, filter }: Pick<TailSettings, 'after' | 'from' | 'last' | 'filter'>,
  head: number,
  details: DetailsByEvent | undefined,
  signal: AbortSignal,
): Promise<Readonly<{ after: number; events: readonly EventWire[] }>> {
  if (after !== undefined) return { after, events: [] }
  if (from !== undefined) {
    const { page } = await daybook.page({ from, limit: 1, signal })
    return { after: page.after ?? 0, events: [] }
  }
  const events: EventWire[] = []
  if (last > 0) {
    const query = { ...filter, order: 'desc', before: head + 1, limit: last, signal, details } as const
    const batches = pagesOf(openCovering(daybook, head, signal), query)
    for await (const batch of batches) if (events.push(...batch) >= last) break
  }
  return { after: head, events: events.slice(0, last).toReversed() }
}

/** Asks again while the answering node is behind `head`, because it would omit the events that it lacks. */
function openCovering({ ask }: Daybook, head: number, signal: AbortSignal): Pick<Ask, 'get'> {
  return {
    get: (path, options) => askedCovering(pauseOf(signal), path, head, () => ask.get(path, options)),
  }
}

/** Reports once that the connection stays broken, and once that it is restored. */
function openConnectionNotices(context: CommandContext): (status: StreamStatus) => void {
  let failures = 0
  let since = 0
  return ({ state }) => {
    if (state === 'reconnecting' || state === 'offline') {
      failures += 1
      if (failures === 1) since = context.monotonicMs()
      // Streams end regularly, and then the first attempt connects again.
      if (failures === 2) printNotice(context, '— no connection; trying again —')
    }
    if (state === 'live' || state === 'catching-up') {
      const seconds = Math.round((context.monotonicMs() - since) / 1_000)
      if (failures >= 2) printNotice(context, `— connected again after ${seconds} s; nothing is missing —`)
      failures = 0
    }
  }
}

function report(settings: TailSettings, { shown, read, seq }: TailProgress, context: CommandContext): void {
  printNotice(context, `${shown} shown, ${read} read, complete up to seq ${seq}`)
  printNotice(context, `resume: ${context.program} ${resumeWords(settings, seq)}`)
}

/** Arguments that continue after a seq, to follow the program's name. */
function resumeWords({ url, filter, follow, cursor, format }: TailSettings, seq: number): string {
  const { type, kind, contestId, nonzero = false } = filter
  const words = [
    ...listWords('--type', type),
    ...listWords('--kind', kind),
    ...listWords('--contest-id', contestId),
    ...(nonzero ? ['--nonzero'] : []),
    ...(follow ? [] : ['--no-follow']),
    ...listWords('--format', format),
    ...(cursor === undefined ? ['--after', String(seq)] : ['--cursor', cursor]),
  ]
  return ['tail', url, ...words].map(shellQuoted).join(' ')
}

type Value = string | number

/** An option with its values, or nothing. */
function listWords(option: string, given: Value | readonly Value[] | undefined): readonly string[] {
  const values = [given ?? []].flat()
  return values.length === 0 ? [] : [option, values.join(',')]
}

/** Arguments that begin again after a seq. A saved cursor would override it, so its file must be moved away. */
function restartWords(settings: TailSettings, seq: number): string {
  const { cursor, ...others } = settings
  const words = resumeWords(others, seq)
  return cursor === undefined
    ? words
    : `${words} --cursor ${shellQuoted(cursor)}, once that file is moved away`
}
