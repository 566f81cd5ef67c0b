import type { Snapshot } from '../../log/store/reader.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { EXAMINED_MAX, DETAILED_PAGE_BYTES_MAX, PAGE_LIMIT_MAX } from '../../protocol/parameters.ts'
import type { EventType } from '../../protocol/rules.ts'
import { BEFORE_FIRST, type ContestId, nextSeq } from '../../protocol/seq.ts'

/** Number of times that a planned moment has moved, and the moment of the event that last changed its entry. */
export type Revision = Readonly<{ sequence: number; changedMs: Ms }>

/** Revisions of a contest's planned moments. */
export type ContestRevisions = Readonly<{ opens: Revision; closes: Revision }>

type PlanEvent = Readonly<{ seq: number; kind: string; atMs: Ms; contestId: ContestId }>
type PlanDetails = Readonly<{
  title?: string
  opensAtMs?: number
  closesAtMs?: number
  month?: string
  paysAtMs?: number
  corrects?: number
}>
type Planned = Readonly<{ event: PlanEvent; details: PlanDetails }>

/** Reads the plans of contests. A contest that was never planned is absent. */
export function contestRevisions(
  snapshot: Snapshot,
  contestIds: readonly ContestId[],
): ReadonlyMap<number, ContestRevisions> {
  if (contestIds.length === 0) return new Map()
  const plans = readPlans(snapshot, ['contest'], ['scheduled', 'rescheduled'], contestIds)
  const groups = Map.groupBy(plans, ({ event }) => event.contestId)
  return new Map(
    [...groups].map(([id, of]) => [
      id,
      {
        opens: revisionOf(of, ({ opensAtMs }) => opensAtMs),
        closes: revisionOf(of, ({ closesAtMs }) => closesAtMs),
      },
    ]),
  )
}

type EntryState = Readonly<{ ms: number | undefined; title: string | undefined }>

/** Folds the plans of one contest. A new title changes an entry too, but does not move it. */
function revisionOf(
  plans: readonly Planned[],
  momentOf: (details: PlanDetails) => number | undefined,
): Revision {
  let before: EntryState | null = null
  let sequence = 0
  let changedMs = msOf(0)
  for (const { event, details } of plans) {
    const now: EntryState = { ms: momentOf(details), title: details.title ?? before?.title }
    // A contest without a plan began with its first event, which another plan moves.
    const isMoved = before === null ? event.kind === 'rescheduled' : now.ms !== before.ms
    if (isMoved) sequence += 1
    if (isMoved || before === null || now.title !== before.title) changedMs = event.atMs
    before = now
  }
  return { sequence, changedMs }
}

/** Reads the plans of a month's loyalty payment. After the correction of a plan, the last uncancelled one applies again. */
export function loyaltyRevision(snapshot: Snapshot, month: string): Revision | undefined {
  const plans: { seq: number; ms: number | undefined }[] = []
  let revision: Revision | undefined
  for (const { event, details } of readPlans(
    snapshot,
    ['loyalty', 'correction'],
    ['scheduled', 'loyalty'],
    null,
  )) {
    const before = plans.at(-1)?.ms
    const at = plans.findIndex(({ seq }) => seq === details.corrects)
    if (details.month === month) plans.push({ seq: event.seq, ms: details.paysAtMs })
    else if (at >= 0) plans.splice(at, 1)
    if (plans.at(-1)?.ms === before) continue
    revision = { sequence: revision === undefined ? 0 : revision.sequence + 1, changedMs: event.atMs }
  }
  return revision
}

/** Reads events through indexes, with their details, in the order of the log. */
function readPlans(
  snapshot: Snapshot,
  types: readonly EventType[],
  kinds: readonly string[],
  contestIds: readonly ContestId[] | null,
): readonly Planned[] {
  const found: Planned[] = []
  const filter = { types, kinds, contestIds, nonzero: false }
  const asked = { filter, tx: null, order: 'asc', limit: PAGE_LIMIT_MAX, examineMax: EXAMINED_MAX } as const
  const before = nextSeq(snapshot.head.seq)
  for (let after = BEFORE_FIRST, hasMore = true; hasMore;) {
    const page = snapshot.detailedWalk({ ...asked, after, before }, 'json', DETAILED_PAGE_BYTES_MAX)
    const events: readonly PlanEvent[] = JSON.parse(`[${Buffer.from(page.bytes).toString()}]`)
    const details: Readonly<Record<number, PlanDetails>> = JSON.parse(
      `{${Buffer.from(page.details).toString()}}`,
    )
    found.push(...events.map((event) => ({ event, details: details[event.seq] ?? {} })))
    ;({ scannedTo: after, hasMore } = page)
  }
  return found
}
