import { type Draft, REASON_CHARS_MAX, REF_CHARS_MAX } from '../../protocol/draft.ts'
import { readBounded, readShown } from '../admission/details-grammar.ts'
import { isFault } from '../admission/refusal.ts'
import { requestRefusal, type FailedOutcome } from '../admission/outcome.ts'
import type { HeldCommands } from '../held-commands.ts'
import { type Answered, type PermittedRequest, readJsonBody } from './publish-replies.ts'
import type { LastMessage } from '../tx-judge.ts'
import type { HeldDraft, EndedDraft } from '../../log/held/held-draft.ts'
import { formatAmount } from '../../protocol/amount.ts'
import { formatDetails } from '../../protocol/details.ts'
import { moment, type Ms } from '../../protocol/moment.ts'

/** Most refs of one decision. Bounds the commit that makes it. */
export const HELD_REFS_MAX = 1_000
/** Bytes of the largest decision. */
const DECISION_BYTES_MAX: number = 1024 * 1024
/** Drafts of one page of the list: by default, and at most. */
const HELD_PAGE = 100
const HELD_PAGE_MAX = 1_000

/** Decisions of the operator about held drafts. */
export const HELD_DECISIONS = ['release', 'vouch', 'drop'] as const
export type HeldDecision = (typeof HELD_DECISIONS)[number]

/** Paths of the operator's requests, each with its method. */
export const HELD_PATHS: ReadonlyMap<string, 'GET' | 'POST'> = new Map([
  ['/held', 'GET'],
  ...HELD_DECISIONS.map((decision) => [`/held/${decision}`, 'POST'] as const),
])

/** Answers a request about held drafts: a page of the list, or the outcome of a decision for each ref. */
export async function heldRequest(
  { heldCommands, lastMessages }: Readonly<{ heldCommands: HeldCommands; lastMessages: LastMessages }>,
  request: PermittedRequest,
  [path, query]: readonly [path: string, query: string | null],
): Promise<Answered> {
  if (path === '/held') {
    const page = parsePage(query ?? '')
    if ('ok' in page) return page
    await heldCommands.quiet()
    return { ok: true, answer: listDrafts(heldCommands, page, lastMessages) }
  }
  if (query !== null) return requestRefusal('unknown-parameter', 'a decision takes no parameters')
  const decision = HELD_DECISIONS.find((one) => path === `/held/${one}`)
  if (decision === undefined) return requestRefusal('not-found', 'nothing is at this address')
  const asked = await readDecision(request)
  if (!asked.ok) return asked
  const outcome = await heldCommands[decision](asked.refs, asked.reason)
  return outcome.ok ? { ok: true, answer: { drafts: outcome.drafts } } : outcome
}

function parsePage(query: string): HeldPage | FailedOutcome {
  const sent = new URLSearchParams(query)
  for (const name of sent.keys()) {
    if (!PARAMETERS.has(name))
      return fieldRefusal('unknown-parameter', 'the query', `takes ${[...PARAMETERS].join(', ')}`)
    if (sent.getAll(name).length > 1) return fieldRefusal('repeated-parameter', name, 'is given twice')
  }
  const after = wholeIn(sent.get('after') ?? '0', 0, Number.MAX_SAFE_INTEGER)
  if (after === undefined) return fieldRefusal('invalid-parameter', 'after', 'must be a whole number')
  const limit = wholeIn(sent.get('limit') ?? String(HELD_PAGE), 1, HELD_PAGE_MAX)
  if (limit === undefined)
    return fieldRefusal('invalid-parameter', 'limit', `must be from 1 to ${HELD_PAGE_MAX}`)
  const wanted = sent.get('state')
  const state = LISTED_STATES.find((one) => one === wanted)
  if (wanted !== null && state === undefined)
    return fieldRefusal('invalid-parameter', 'state', `must be one of ${LISTED_STATES.join(', ')}`)
  return { after, limit, state: state ?? null }
}

const PARAMETERS: ReadonlySet<string> = new Set(['after', 'limit', 'state'])

function wholeIn(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}

type DecisionBody = Readonly<{ ok: true; refs: readonly string[]; reason: string }> | FailedOutcome

async function readDecision(request: PermittedRequest): Promise<DecisionBody> {
  const body = await readJsonBody(request, 'a decision', DECISION_BYTES_MAX)
  return body.ok ? decisionOf(body.value) : body
}

function decisionOf({ refs, reason, ...others }: Readonly<Record<string, unknown>>): DecisionBody {
  if (Object.keys(others).length > 0)
    return requestRefusal('unknown-parameter', 'a decision has the keys refs and reason')
  if (!Array.isArray(refs) || refs.length < 1 || refs.length > HELD_REFS_MAX)
    return fieldRefusal('invalid-parameter', 'refs', `must be a list of 1 to ${HELD_REFS_MAX} refs`)
  const names = new Set<string>()
  for (const [index, sent] of refs.entries()) {
    const ref = readBounded(sent, REF_CHARS_MAX)
    if (isFault(ref)) return fieldRefusal('invalid-parameter', `refs[${index}]`, ref.reason)
    if (names.has(ref)) return fieldRefusal('invalid-parameter', `refs[${index}]`, 'is given twice')
    names.add(ref)
  }
  const why = readShown(reason, REASON_CHARS_MAX)
  if (isFault(why)) return fieldRefusal('invalid-parameter', 'reason', why.reason)
  return { ok: true, refs: [...names], reason: why }
}

function fieldRefusal(code: FailedOutcome['code'], field: string, reason: string): FailedOutcome {
  return { ...requestRefusal(code, reason), field }
}

/**
 * States by which the list shows drafts. A `refused` draft has a final transaction, but the books refuse it, or its
 * amount exceeds what the transaction moved.
 */
export const LISTED_STATES = ['waiting', 'refused', 'failed', 'dropped'] as const
type ListedState = (typeof LISTED_STATES)[number]

/** Page of the list: drafts after the id `after`, in order of acceptance. A null `state` means every held draft. */
type HeldPage = Readonly<{ after: number; limit: number; state: ListedState | null }>

/** A draft as the operator sees it. Nothing of it is public. */
type ListedDraft = Readonly<{
  id: number
  ref: string
  state: ListedState
  type: string
  kind: string
  contestId: number | null
  kots: string | null
  tx: string | null
  details: unknown
  acceptedAt: string
  acceptedAtMs: number
  settledAt: string | null
  settledAtMs: number | null
  /** Obstacle: the chain, earlier held drafts of its contest, or the books; null when it is settled. */
  waitsFor: 'chain' | 'contest' | 'books' | null
  place: string | null
  reason: string | null
  /** Last message of each RPC server, while the draft waits for the chain; null before this node has asked. */
  lastMessages: readonly LastMessage[] | null
}>

/** Returns the last messages of the RPC servers about a transaction; null when this node has not asked. */
export type LastMessages = (tx: string) => readonly LastMessage[] | null

/** One page of held or settled drafts, in order of acceptance. */
function listDrafts(
  heldCommands: HeldCommands,
  { after, limit, state }: HeldPage,
  lastMessages: LastMessages,
): Readonly<{ drafts: readonly ListedDraft[]; next: number | null }> {
  // One more than the page shows whether it is the last page.
  const found =
    state === 'failed' || state === 'dropped'
      ? heldCommands.listEnded(state, after, limit + 1).map(settledRow)
      : heldCommands
          .list(after, limit + 1, (held) => state === null || stateOf(held) === state)
          .map((held) => heldRow(held, lastMessages))
  const drafts = found.slice(0, limit)
  return { drafts, next: found.length > limit ? (drafts.at(-1)?.id ?? null) : null }
}

function stateOf({ reason }: HeldDraft): ListedState {
  return reason === null ? 'waiting' : 'refused'
}

function heldRow(held: HeldDraft, lastMessages: LastMessages): ListedDraft {
  const { id, ref, draft, acceptedAt, settledAt, place, reason, chain } = held
  const waitsFor = chain === 'asked' ? 'chain' : reason === null ? 'contest' : 'books'
  const said = waitsFor === 'chain' && draft.tx !== null ? lastMessages(draft.tx) : null
  const rest = { ...momentsOf(acceptedAt, settledAt), waitsFor, place, reason, lastMessages: said } as const
  return { id, ref, state: stateOf(held), ...fieldsOf(draft), ...rest }
}

function settledRow({
  id,
  ref,
  draft,
  acceptedAt,
  settledAt,
  state,
  place,
  reason,
}: EndedDraft): ListedDraft {
  const rest = { ...momentsOf(acceptedAt, settledAt), waitsFor: null, place, reason, lastMessages: null }
  return { id, ref, state, ...fieldsOf(draft), ...rest }
}

function fieldsOf({ type, kind, contestId, kots, tx, details }: Draft) {
  return {
    type,
    kind,
    contestId,
    kots: kots === null ? null : formatAmount(kots),
    tx,
    details: details === null ? null : (JSON.parse(formatDetails(details)) as unknown),
  }
}

function momentsOf(acceptedAt: Ms, settledAt: Ms | null) {
  const settled = settledAt === null ? null : moment(settledAt)
  return {
    acceptedAt: moment(acceptedAt).at,
    acceptedAtMs: acceptedAt,
    settledAt: settled?.at ?? null,
    settledAtMs: settled?.atMs ?? null,
  }
}
