import { Argument } from 'commander'
import { optionOf, TO_URLS } from '../terminal/options.ts'
import { print, printable } from '../terminal/output.ts'
import { askOperator, openPublishAccess, type PublishAccess } from './publish-client.ts'
import { HELD_DECISIONS, type HeldDecision, LISTED_STATES } from '../../publish/api/held-api.ts'
import { isJsonObject, type JsonObject } from '../../verify/reading/json-values.ts'
import { formatTable } from '../consumer/output-answer.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'

/** Options of every command below `held`, as commander parses them. */
type HeldOptions = Readonly<{ to: string; tokenFile: string }>

const MEANINGS: Readonly<Record<HeldDecision, string>> = {
  release:
    'check held drafts against the books again, and publish those that pass; never overrides the chain',
  vouch: 'say that a transaction is final in place of the chain, and publish the draft; counted in /status',
  drop: 'give held drafts up for ever',
}

/** The command `held`: the list of held drafts, and the decisions about them. */
export function heldCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('held')
  const own = [
    option('--to <urls>', TO_URLS).default('http://127.0.0.1:8081'),
    option('--token-file <file>', 'file with the publish token; required').makeOptionMandatory(),
  ]
  const reason = option('--reason <text>', 'reason, which is never published; required').makeOptionMandatory()
  return {
    name: 'held',
    description: 'list the drafts that wait for the blockchain, and decide about them',
    help: `Examples:
  daybook held --token-file token
  daybook held vouch payment-4711 --token-file token --reason 'Seen as final in the explorer'`,
    commands: [
      {
        name: 'list',
        description: 'list held drafts, in order of acceptance (the default)',
        options: [option('--state <name>', 'only drafts in this state').choices(LISTED_STATES), ...own],
        isDefault: true,
        run: (options: HeldOptions & { state?: string }) => listHeld(options, context),
      },
      ...HELD_DECISIONS.map((decision) => ({
        name: decision,
        description: MEANINGS[decision],
        arguments: [new Argument('<ref...>', 'refs of the drafts')],
        options: [reason, ...own],
        run: (refs: readonly string[], options: HeldOptions & { reason: string }) =>
          decideHeld(decision, refs, options, context),
      })),
    ],
  }
}

/** Drafts of one page, and refs of one decision: the maximum of the publish API. */
const PAGE_DRAFTS = 1_000
const DECISION_REFS = 1_000

/** Lists the held drafts, in order of acceptance: a table on a terminal, JSON lines elsewhere. */
async function listHeld(
  { to, tokenFile, state }: HeldOptions & Readonly<{ state?: string }>,
  context: CommandContext,
): Promise<ExitCode> {
  const access = openPublishAccess(to, tokenFile, context)
  const isTable = (context.columns?.() ?? null) !== null
  let isEmpty = true
  for await (const drafts of pages(access, state)) {
    if (drafts.length === 0) continue
    isEmpty = false
    const shown = isTable
      ? formatTable(drafts.map(rowOf))
      : drafts.map((draft) => `${JSON.stringify(draft)}\n`).join('')
    if (!(await print(shown, context))) return 0
  }
  if (isEmpty)
    printNotice(context, state === undefined ? 'no draft is held' : `no draft has the state ${state}`)
  return 0
}

async function* pages(
  access: PublishAccess,
  state: string | undefined,
): AsyncGenerator<readonly JsonObject[]> {
  const filter = state === undefined ? '' : `&state=${state}`
  for (let after: unknown = 0; typeof after === 'number';) {
    const page = await askOperator(access, `/held?after=${after}&limit=${PAGE_DRAFTS}${filter}`, null)
    yield draftsIn(page)
    after = page['next']
  }
}

function draftsIn({ drafts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(drafts) ? drafts.filter(isJsonObject) : []
}

/** Row of the table, with the facts for a decision. */
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
  lastMessages,
}: JsonObject): JsonObject {
  const waits = waitsFor === null || waitsFor === undefined ? state : waitsFor
  return {
    ref,
    event: `${text(type)}/${text(kind)}`,
    contest: contestId,
    amount: kots,
    acceptedAt,
    waits,
    reason: reason ?? messagesOf(lastMessages),
  }
}

/** Last messages of the servers of the chain, in one text; null when they were not asked. */
function messagesOf(lastMessages: unknown): string | null {
  if (!Array.isArray(lastMessages)) return null
  return lastMessages
    .filter(isJsonObject)
    .map(({ server, words }) => `${text(server)}: ${text(words)}`)
    .join('; ')
}

/** Past tense of each decision. */
const DONE: Readonly<Record<HeldDecision, string>> = {
  release: 'published',
  vouch: 'published',
  drop: 'dropped',
}

/**
 * Decides about held drafts and prints the outcome of each. Exit code 1 if one of them has another outcome than the
 * decided one. Repeating the command is harmless.
 */
async function decideHeld(
  decision: HeldDecision,
  refs: readonly string[],
  { to, tokenFile, reason }: HeldOptions & Readonly<{ reason: string }>,
  context: CommandContext,
): Promise<ExitCode> {
  const access = openPublishAccess(to, tokenFile, context)
  const isText = (context.columns?.() ?? null) !== null
  const wanted = [...new Set(refs)]
  let missed = 0
  for (let from = 0; from < wanted.length; from += DECISION_REFS) {
    const part = wanted.slice(from, from + DECISION_REFS)
    const answer = await askOperator(access, `/held/${decision}`, { refs: part, reason })
    for (const outcome of draftsIn(answer)) {
      if (outcome['status'] !== DONE[decision]) missed += 1
      await print(isText ? `${outcomeText(outcome)}\n` : `${JSON.stringify(outcome)}\n`, context)
    }
  }
  if (missed > 0) printNotice(context, `${missed} of ${wanted.length} drafts are not ${DONE[decision]}`)
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
