import { readFileSync } from 'node:fs'
import { Argument } from 'commander'
import type { Answer } from '../../client/ask.ts'
import { endpointPath, type QueryValues } from '../../client/endpoint-query.ts'
import { openSameLog } from '../../client/event-pages.ts'
import { formatAmount, negate, parseAmount } from '../../protocol/amount.ts'
import { DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import type { EventWire } from '../../protocol/event.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { EventCorrections, EventDetails, EventsPage } from '../../protocol/endpoints/event-endpoints.ts'
import { CORRECTABLE_TYPES, isEventType } from '../../protocol/rules.ts'
import { isJsonObject, type JsonObject } from '../../verify/reading/json-values.ts'
import { openClient, withCommandErrors } from '../terminal/client.ts'
import { type ExitCode, printNotice, type CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { optionOf, TO_URLS, wholeBetween } from '../terminal/options.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { concernsNode, openPublishAccess, sendDrafts } from './publish-client.ts'

type CorrectOptions = Readonly<{
  /** Public address, where the event is read. */
  url: string
  to: string
  /** Absent only in a dry run. */
  tokenFile?: string
  reason?: string
  ref?: string
  /** Changed fields of the replacement, as JSON or the path of a file. */
  restate?: string
  dryRun?: true
}>

/** The command `correct`. */
export function correctCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('correct')
  return {
    name: 'correct',
    description: 'cancel a published event with a correction, and publish its replacement',
    arguments: [new Argument('<seq>', 'seq of the event').argParser(wholeBetween(1, SEQ_MAX))],
    options: [
      option('--url <url>', 'address of the service').default('http://127.0.0.1:8080'),
      option('--to <urls>', TO_URLS).default('http://127.0.0.1:8081'),
      option('--token-file <file>', 'file with the publish token'),
      option('--reason <text>', 'reason for the correction, which is published'),
      option(
        '--restate <draft>',
        'changed fields of the replacement, as JSON or a file; the other fields are copied',
      ),
      option('--ref <ref>', 'ref of the correction (default: correction-of-<seq>)'),
      option('--dry-run', 'print the drafts instead of sending them'),
    ],
    help: `Example:
  daybook correct 184223 --token-file token --reason 'Counted twice' --restate '{"kots":"12.5"}'`,
    run: (seq: number, options: CorrectOptions) => correct(seq, options, context),
  }
}

/**
 * Cancels a published event with a correction, and publishes its replacement in the same request: both or neither.
 * Repeating the command changes nothing, because the refs follow from the seq.
 */
async function correct(seq: number, options: CorrectOptions, context: CommandContext): Promise<ExitCode> {
  const { url, to, tokenFile, restate, dryRun = false } = options
  const fields = restate === undefined ? null : parseRestatement(restate)
  if (tokenFile === undefined && !dryRun) throw new UsageError('correct needs --token-file or --dry-run')
  const access = tokenFile === undefined ? null : openPublishAccess(to, tokenFile, context)
  const daybook = openClient(url, context)
  const signal = context.stop
  const sameLog = openSameLog()
  const read: Read = async (id, query) => {
    const answer = await daybook.ask.get(endpointPath(id, seq, query), { signal })
    sameLog(answer.headers)
    return answer
  }
  const answer = await withCommandErrors(() => read('event'))
  const event: EventWire = answer.json()
  const correctable: readonly string[] = CORRECTABLE_TYPES
  if (!isEventType(event.type) || !correctable.includes(event.type)) {
    throw new CommandError(
      `seq ${seq} is of type ${event.type}, which cannot be corrected: publish a further event instead`,
    )
  }
  const details =
    fields === null ? {} : await withCommandErrors(() => replacedDetails(event, fields, read, context))
  const drafts = [
    correctionDraft(event, options),
    ...(fields === null ? [] : [restatementDraft(event, details, fields, options)]),
  ]
  const lines = drafts.map((draft) => JSON.stringify(draft))
  if (access === null || dryRun) {
    context.stdout.write(lines.map((line) => `${line}\n`).join(''))
    return 0
  }
  const sent = await sendDrafts({ ...access, log: answer.headers.get('daybook-log') }, lines)
  if (!sent.ok) {
    const { field: firstField } = sent.failure
    const isCorrected = CORRECTED_FIELDS.includes(firstField ?? '')
    const earlier = isCorrected ? await earlierCorrection(seq, read) : null
    if (earlier !== null) throw new CommandError(`${earlier}; nothing was published`)
    for (const { draft, field, reason } of [sent.failure, ...sent.failure.others]) {
      const which = draft === null ? [] : [draft === 0 ? 'the correction' : 'the restatement']
      const place = [...which, ...(field === null ? [] : [field])].join(', ')
      printNotice(context, place === '' ? reason : `${place}: ${reason}`)
    }
    const isUnknown = concernsNode(sent.failure)
    printNotice(
      context,
      isUnknown ? 'repeat the command: nothing is published twice' : 'nothing was published',
    )
    return 1
  }
  const outcomes = [
    { what: `corrects seq ${seq}`, until: 'until the held drafts of its contest are settled' },
    { what: `restates seq ${seq}`, until: 'until the chain says that its transaction is final' },
  ]
  for (const [index, { what, until }] of outcomes.slice(0, sent.receipts.length).entries()) {
    const text = receiptText(context.program, sent.receipts[index], what, until)
    context.stdout.write(`${text}\n`)
  }
  return sent.receipts.some(({ status }) => status === 'failed' || status === 'dropped') ? 1 : 0
}

/** Fields that the publish API refuses when another command has corrected or replaced the event. */
const CORRECTED_FIELDS: readonly string[] = ['ref', 'details.corrects', 'details.restates']

/**
 * Text that tells which events have cancelled and replaced an event, and what to do; null when nothing has cancelled
 * it.
 */
async function earlierCorrection(seq: number, read: Read): Promise<string | null> {
  const answer = await withCommandErrors(() => read('eventCorrections'))
  const { correctedBy, restatedBy }: EventCorrections = answer.json()
  if (correctedBy === null) return null
  const cancelled = `event ${seq} was cancelled by ${correctedBy}`
  return restatedBy === null
    ? `${cancelled} and not replaced: publish its replacement with details.restates ${seq}`
    : `${cancelled} and replaced by ${restatedBy}: correct ${restatedBy}`
}

/** Requests the event, or an answer about it. */
type Read = (id: EndpointId, query?: QueryValues) => Promise<Answer>

/** Details for the replacement: those of the event, with a prize's review that a later hold has set. */
async function replacedDetails(
  { seq, type, kind, contestId }: EventWire,
  { details: given }: JsonObject,
  read: Read,
  context: CommandContext,
): Promise<JsonObject> {
  const { details }: EventDetails = (await read('eventDetails')).json()
  if (type !== 'prize' || contestId === null || (isJsonObject(given) && 'reviewUntil' in given))
    return details ?? {}
  // The replacement is newer than the hold, which would therefore not apply to it.
  const { correctedBy }: EventCorrections = (await read('eventCorrections')).json()
  // Ignores a hold after the correction, so that a repeated command has the same drafts.
  const query = { type: 'hold', kind, contestId, after: seq, before: correctedBy ?? undefined, details: true }
  const page: EventsPage = (await read('events', { ...query, order: 'desc', limit: 1 })).json()
  const [hold] = page.events
  const reviewUntil = page.details?.[hold?.seq ?? 0]?.['reviewUntil']
  if (hold === undefined || reviewUntil === undefined) return details ?? {}
  printNotice(context, `the restatement ends its review at ${reviewUntil}, as event ${hold.seq} says`)
  return { ...details, reviewUntil }
}

/** Outcome of one draft. `until` says how long a held draft waits; `program` is the user's name for this program. */
function receiptText(
  program: string,
  receipt: Readonly<{ status: string; seq: number | null }> | undefined,
  what: string,
  until: string,
): string {
  const { status = 'unknown', seq = null } = receipt ?? {}
  switch (status) {
    case 'published':
      return `seq ${seq} ${what}`
    case 'held':
      return `the draft that ${what} is held ${until}: ${program} held --token-file FILE shows it`
    case 'failed':
      return `the draft that ${what} is never published: its transaction failed`
    case 'dropped':
      return `the draft that ${what} is never published: it was dropped`
    default:
      return `${seq === null ? 'a draft' : `seq ${seq}`} (${status}) ${what}`
  }
}

/** Draft that cancels an event in full. */
function correctionDraft(event: EventWire, { ref, reason }: CorrectOptions): JsonObject {
  const amount = event.kots === null ? undefined : parseAmount(event.kots)
  return {
    ref: ref ?? `correction-of-${event.seq}`,
    type: 'correction',
    kind: event.type,
    ...(event.contestId === null ? {} : { contestId: event.contestId }),
    ...(amount === undefined ? {} : { kots: formatAmount(negate(amount)) }),
    details: { corrects: event.seq, ...(reason === undefined ? {} : { reason }) },
  }
}

/** Draft of the replacement: the fields of the event, overridden by the given ones. */
function restatementDraft(
  { seq, type, kind, contestId, kots, tx }: EventWire,
  details: JsonObject,
  { details: given, ...fields }: JsonObject,
  { ref }: CorrectOptions,
): JsonObject {
  // A published moment is a pair of fields, of which a draft has one. The event's own `restates` does not apply.
  const own = Object.entries(details).filter(([key]) => key !== 'restates' && !isTwin(key, details))
  const kept = Object.entries({ kind, contestId, kots, tx }).filter(([, value]) => value !== null)
  return {
    ref: ref === undefined ? `restatement-of-${seq}` : `${ref}-restated`,
    type,
    ...Object.fromEntries(kept),
    ...fields,
    details: { ...Object.fromEntries(own), ...Object(given), restates: seq },
  }
}

function isTwin(key: string, details: JsonObject): boolean {
  return key.endsWith('Ms') && key.slice(0, -2) in details
}

/** Fields of an event that a replacement may change. */
const RESTATABLE_FIELDS = ['kind', 'contestId', 'kots', 'tx', 'details']

function parseRestatement(given: string): JsonObject {
  const text = given.trimStart().startsWith('{') ? given : readText(given)
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch (cause) {
    throw new UsageError('--restate is not valid JSON', { cause })
  }
  if (!isJsonObject(fields)) {
    throw new UsageError('--restate: give a JSON object of the changed fields, such as {"kots":"12.5"}')
  }
  const unknown = Object.keys(fields).find((key) => !RESTATABLE_FIELDS.includes(key))
  if (unknown !== undefined)
    throw new UsageError(`--restate may have these fields only: ${RESTATABLE_FIELDS.join(', ')}`)
  return fields
}

function readText(file: string): string {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length <= DRAFT_LINE_BYTES_MAX) return text
  } catch (cause) {
    throw new UsageError('--restate is neither a JSON object nor a readable file', { cause })
  }
  throw new UsageError(`--restate: ${file} is too long: a draft has at most ${DRAFT_LINE_BYTES_MAX} bytes`)
}
