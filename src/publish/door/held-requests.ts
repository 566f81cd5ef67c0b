import { REASON_CHARS_MAX, REF_CHARS_MAX } from '../../protocol/draft.ts'
import { readBounded, readShown } from '../admission/details-grammar.ts'
import { isFault } from '../admission/refusal.ts'
import { doorRefusal, type FailedOutcome } from '../admission/outcome.ts'
import type { HeldQueue } from '../held-queue.ts'
import { type PlacedRequest, readJsonBody } from './door-replies.ts'
import { type HeldPage, type LastWords, listDrafts, LISTED_STATES } from './held-list.ts'

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
  { queue, lastWords }: Readonly<{ queue: HeldQueue; lastWords: LastWords }>,
  request: PlacedRequest,
  [path, query]: readonly [path: string, query: string | null],
): Promise<Readonly<{ ok: true; answer: object }> | FailedOutcome> {
  if (path === '/held') {
    const page = parsePage(query ?? '')
    if ('ok' in page) return page
    await queue.quiet()
    return { ok: true, answer: listDrafts(queue, page, lastWords) }
  }
  if (query !== null) return doorRefusal('unknown-parameter', 'a decision takes no parameters')
  const decision = HELD_DECISIONS.find((one) => path === `/held/${one}`)
  if (decision === undefined) return doorRefusal('not-found', 'nothing is at this address')
  const asked = await readDecision(request)
  if (!asked.ok) return asked
  const outcome = await queue[decision](asked.refs, asked.reason)
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

async function readDecision(request: PlacedRequest): Promise<DecisionBody> {
  const body = await readJsonBody(request, 'a decision', DECISION_BYTES_MAX)
  return body.ok ? decisionOf(body.value) : body
}

function decisionOf({ refs, reason, ...others }: Readonly<Record<string, unknown>>): DecisionBody {
  if (Object.keys(others).length > 0)
    return doorRefusal('unknown-parameter', 'a decision has the keys refs and reason')
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
  return { ...doorRefusal(code, reason), field }
}
