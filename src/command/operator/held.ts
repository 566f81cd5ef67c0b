import { isJsonObject, type JsonObject } from '../../verify/reading/json-values.ts'
import { formatTable } from '../consumer/output-answer.ts'
import { print, printable } from '../terminal/output.ts'
import { type ExitCode, tell, type World } from '../terminal/world.ts'
import { askHeld } from './held-door.ts'
import { type DoorAccess, openDoor } from './publish-door.ts'

/** Drafts of one request for a page, and refs of one decision: the most that the door takes. */
const PAGE_DRAFTS = 1_000
const DECISION_REFS = 1_000

type HeldSettings = Readonly<{
  to: string
  tokenFile: string
  /** Whether JSON lines are wanted on a terminal too. */
  json: boolean
}>

/** Lists the held drafts, in order of acceptance: a table on a terminal, JSON lines elsewhere. */
export async function listHeld(
  { to, tokenFile, json, state }: HeldSettings & Readonly<{ state: string | null }>,
  world: World,
): Promise<ExitCode> {
  const door = openDoor(to, tokenFile, world)
  const isTable = !json && (world.columns?.() ?? null) !== null
  let isEmpty = true
  for await (const drafts of pages(door, state)) {
    if (drafts.length === 0) continue
    isEmpty = false
    const shown = isTable
      ? formatTable(drafts.map(rowOf))
      : drafts.map((draft) => `${JSON.stringify(draft)}\n`).join('')
    if (!(await print(shown, world))) return 0
  }
  if (isEmpty) tell(world, state === null ? 'no draft is held' : `no draft has the state ${state}`)
  return 0
}

async function* pages(door: DoorAccess, state: string | null): AsyncGenerator<readonly JsonObject[]> {
  const filter = state === null ? '' : `&state=${state}`
  for (let after: unknown = 0; typeof after === 'number';) {
    const page = await askHeld(door, `/held?after=${after}&limit=${PAGE_DRAFTS}${filter}`, null)
    yield draftsIn(page)
    after = page['next']
  }
}

function draftsIn({ drafts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(drafts) ? drafts.filter(isJsonObject) : []
}

/** Row of the table: what a person decides by. */
function rowOf({
  ref,
  type,
  kind,
  contestId,
  kots,
  acceptedAt,
  waitsFor,
  state,
  reason,
  lastWords,
}: JsonObject): JsonObject {
  const waits = waitsFor === null || waitsFor === undefined ? state : waitsFor
  return {
    ref,
    event: `${text(type)}/${text(kind)}`,
    contest: contestId,
    amount: kots,
    acceptedAt,
    waits,
    reason: reason ?? wordsOf(lastWords),
  }
}

/** Last words of the servers of the chain, in one text; null when they were not asked. */
function wordsOf(lastWords: unknown): string | null {
  if (!Array.isArray(lastWords)) return null
  return lastWords
    .filter(isJsonObject)
    .map(({ server, words }) => `${text(server)}: ${text(words)}`)
    .join('; ')
}

/** Past tense of each decision. */
const DONE = { release: 'published', vouch: 'published', drop: 'dropped' } as const

/**
 * Decides about held drafts and prints the outcome of each. Exit code 1 when one of them did not become what was wanted:
 * repeating the command is harmless.
 */
export async function decideHeld(
  decision: keyof typeof DONE,
  { to, tokenFile, json, refs, reason }: HeldSettings & Readonly<{ refs: readonly string[]; reason: string }>,
  world: World,
): Promise<ExitCode> {
  const door = openDoor(to, tokenFile, world)
  const isText = !json && (world.columns?.() ?? null) !== null
  const wanted = [...new Set(refs)]
  let missed = 0
  for (let from = 0; from < wanted.length; from += DECISION_REFS) {
    const part = wanted.slice(from, from + DECISION_REFS)
    const answer = await askHeld(door, `/held/${decision}`, { refs: part, reason })
    for (const outcome of draftsIn(answer)) {
      if (outcome['status'] !== DONE[decision]) missed += 1
      await print(isText ? `${outcomeText(outcome)}\n` : `${JSON.stringify(outcome)}\n`, world)
    }
  }
  if (missed > 0) tell(world, `${missed} of ${wanted.length} drafts are not ${DONE[decision]}`)
  return missed > 0 ? 1 : 0
}

function outcomeText({ ref, status, seq, reason }: JsonObject): string {
  const name = printable(text(ref))
  const why = typeof reason === 'string' ? `: ${printable(reason)}` : ''
  switch (status) {
    case 'published':
      return `${name}  published as seq ${text(seq)}`
    case 'held':
      return `${name}  still held${why}`
    case 'unknown':
      return `${name}  no held draft has this ref`
    default:
      return `${name}  ${printable(text(status))}${why}`
  }
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
