import { contentOf, type History, type SentDraft } from './history.ts'

/** An event of the log at the end of a run. */
export type LoggedEvent = Readonly<{ seq: number; atMs: number } & Record<string, unknown>>

/** Rule of a history. Yields its violations as sentences. */
export type HistoryRule = (
  history: History,
  events: readonly LoggedEvent[],
  roots: () => readonly string[],
) => Iterable<string>

/** Rules about what runs beside the nodes: a chain, an outbox, witnesses, backups, and streams with filters. */
export const COMPANION_RULES: Readonly<Record<string, HistoryRule>> = {
  'no event precedes the finality of its transaction': final,
  'rows of the outbox are in the log once, in the order of their commits': drained,
  'each witnessed tree is of the final log, and none is followed by a smaller one': witnessed,
  'each backup restores to a beginning of the log, with all that was signed before': restored,
  'streams with a filter have every event that matches, once': filtered,
  'streams with details have those of each event': detailed,
}

/** The draft with its amount in the form of an event. */
export function published(draft: SentDraft): Readonly<Record<string, unknown>> {
  if (draft.kots === undefined) return draft
  const [whole = '', decimals = ''] = draft.kots.split('.')
  return { ...draft, kots: `${whole}.${decimals.padEnd(9, '0')}` }
}

function* final({ finals, firstSeenMs }: History, events: readonly LoggedEvent[]): Generator<string> {
  for (const { seq, tx } of events) {
    const finalAt = typeof tx === 'string' ? finals.get(tx) : undefined
    if (finalAt === undefined) continue
    const early = (finalAt ?? Infinity) - (firstSeenMs.get(seq) ?? Infinity)
    if (finalAt === null) yield `${seq} is of a transaction that is never final`
    else if (early > 0) yield `${seq} was shown ${early} ms before its transaction was final`
  }
}

function* drained({ outbox }: History, events: readonly LoggedEvent[]): Generator<string> {
  let newest = 0
  for (const [index, { draft, seq }] of outbox.entries()) {
    const event = events[seq - 1]
    if (event === undefined || contentOf(event) !== contentOf(published(draft)))
      yield `row ${index + 1} is marked as ${seq}, which has another event`
    if (seq <= newest) yield `row ${index + 1} is at ${seq}, before an earlier row at ${newest}`
    newest = Math.max(newest, seq)
  }
}

function* witnessed(
  { witnessed: seen }: History,
  _: readonly LoggedEvent[],
  roots: () => readonly string[],
): Generator<string> {
  const newest = new Map<string, number>()
  for (const { node, size, root } of seen) {
    if (roots()[size] !== root) yield `${node} showed a witnessed tree of ${size} events that is another one`
    const before = newest.get(node) ?? 0
    if (size < before) yield `${node} showed a witnessed tree of ${size} events after one of ${before}`
    newest.set(node, size)
  }
}

function* restored(
  { backups }: History,
  _: readonly LoggedEvent[],
  roots: () => readonly string[],
): Generator<string> {
  for (const { node, size, root, least } of backups) {
    if (roots()[size] !== root) yield `${node} has another tree of ${size} events`
    if (size < least) yield `${node} has ${size} events, although ${least} were signed before it`
  }
}

function* filtered({ visits }: History, events: readonly LoggedEvent[]): Generator<string> {
  const bySubscriber = Map.groupBy(
    visits.filter(({ type }) => type !== undefined),
    ({ subscriber }) => subscriber,
  )
  for (const [subscriber, own] of bySubscriber) {
    const type = own[0]?.type
    for (const { node, after, refused } of own)
      if (refused !== null)
        yield `subscriber ${subscriber} at ${node} was refused with ${refused} after ${after}`
    const received = own.flatMap(({ runs }) =>
      runs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index)),
    )
    const matching = events.filter((event) => event['type'] === type).map(({ seq }) => seq)
    const at = matching.findIndex((seq, index) => received[index] !== seq)
    if (at >= 0 || received.length > matching.length) {
      const place = at < 0 ? matching.length : at
      yield `subscriber ${subscriber} of ${type} received ${received[place]}, not ${matching[place]}`
    }
  }
}

function* detailed({ entries, firstDetails, bare }: History): Generator<string> {
  const detailsOf = (seq: number): string | undefined => entries[seq - 1]?.split('\n')[1]
  for (const [seq, line] of firstDetails)
    if (detailsOf(seq) !== line) yield `a stream showed other details of ${seq}`
  for (const seq of bare) if (detailsOf(seq)) yield `a stream showed ${seq} without its details`
}
