import { ChainError } from '../../finality/rpc/chain-url.ts'
import { openChain } from '../../finality/chain/open-chain.ts'
import { openRequestPace } from '../../finality/audit/request-pace.ts'
import type { ChainClient, TokenAccount } from '../../finality/chain/tx-verdict.ts'
import { add, type Amount, formatAmount, parseAmount, ZERO } from '../../protocol/amount.ts'
import { parseEvent } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import type { EventCorrections, EventDetails, EventsPage } from '../../protocol/resources.ts'
import type { Status } from '../../protocol/status-resources.ts'
import { seqOf } from '../../protocol/seq.ts'
import { type AskedTransaction, askTransactions } from '../../finality/audit/ask-transactions.ts'
import { chanceLines } from '../../finality/audit/miss-chance.ts'
import { openNamedTransactions, RECENT_MS } from '../../finality/audit/named-transactions.ts'
import { faultOf, isSound, placeOf } from '../../finality/audit/transaction-fault.ts'
import type { ChainChecks, ChainFields, MonthTransactions } from './island-verify-fields.ts'
import {
  type CheckStep,
  type CheckSteps,
  failed,
  failedStep,
  type Log,
  passed,
  servedText,
  sha256Sync,
  type SignedCheckpoint,
  unchecked,
} from './island-verify-log.ts'
import { type ProvedEvent, provedEvent } from './island-verify-tree.ts'

/** Transactions of a month that are asked about. */
const SAMPLE = 100
const LARGEST = 10
const REQUEST_MS_MAX = 20_000
const REQUESTS_A_MINUTE = 240
/** Payouts of one transaction that are added up at most. Each takes a request. */
const PAYOUTS_MAX = 30

const UNREACHED =
  'Too few RPC servers could be asked from here: two must agree when you give several. A browser asks only servers that allow requests from any page (CORS), and those at https addresses or on this machine. daybook verify --chain asks any'

/** Checks against a blockchain, by the RPC servers that the reader types in. They get no request from the log's server. */
export const CHAIN_CHECKS: ChainChecks = { payment: checkOnChain, openMonth }

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** RPC servers that were reached, and the chain that they serve. */
type Reached = Readonly<{ client: ChainClient; chain: 'solana' | 'evm'; at: string }>

/** Opens the servers of the reader, for the chain of the log. Undefined when they cannot be asked. */
async function* reachChain(log: Log, { urls }: ChainFields): CheckSteps<Reached> {
  const { chain, simulated }: Status = JSON.parse(await servedText(log, 'status'))
  if (chain !== 'solana' && chain !== 'evm') {
    yield unchecked('This log does not name its chain, so no server can be asked about its transactions')
    return undefined
  }
  if (simulated) {
    yield unchecked('This log is simulated: its transactions are invented, and no real blockchain has them')
  }
  const now = (): number => performance.now()
  const spend = openRequestPace(REQUESTS_A_MINUTE, now, sleep)
  const { signal } = new AbortController()
  try {
    const client = openChain({ chain, urls, signal, timeoutMs: REQUEST_MS_MAX, now, spend })
    const id = await client.identify(null)
    const hosts = urls.map((url) => new URL(url).host).join(' and ')
    if (id !== null)
      return { client, chain, at: `${hosts}, ${chain === 'evm' ? 'chain id' : 'genesis'} ${id}` }
    yield unchecked(UNREACHED)
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    yield unchecked(error.message)
  }
  return undefined
}

/** Asks the chain about the transaction of an event that was proved in the tree of a checkpoint. */
async function* checkOnChain(
  log: Log,
  event: ProvedEvent,
  fields: ChainFields,
  now: SignedCheckpoint,
): CheckSteps {
  const reached = yield* reachChain(log, fields)
  if (reached === undefined || event.tx === null) return
  const { tx } = event
  const account = event.type === 'payout' ? fields.account : null
  const owed = account === null ? { paid: ZERO, isWhole: true } : yield* paidBy(log, event, now)
  if (owed === undefined) return
  const { paid, isWhole } = owed
  const isRecent = event.atMs > Date.now() - RECENT_MS
  const [asked] = await ask(reached.client, account, [{ tx, seqs: [seqOf(event.seq)], paid, isRecent }])
  if (asked === undefined) return
  yield stepOf(asked, account !== null, reached.at)
  const lack =
    account === null
      ? '. Give the payer and the token; without them this proves only that the transaction exists, succeeded and is final'
      : paid <= ZERO
        ? ': this payout is corrected'
        : isWhole
          ? null
          : ` for the other payouts of the transaction: they are over ${PAYOUTS_MAX - 1}`
  if (lack !== null) yield unchecked(`The amount was not compared${lack}`)
}

function ask(
  client: ChainClient,
  account: TokenAccount | null,
  named: Parameters<typeof askTransactions>[1],
): Promise<readonly AskedTransaction[]> {
  return askTransactions({ client, account, pause: sleep, onProgress: () => undefined }, named)
}

function stepOf(asked: AskedTransaction, comparesAmounts: boolean, at: string): CheckStep {
  const fault = faultOf(asked)
  if (fault !== null) return failedStep(`Event ${asked.seqs[0]}: ${fault}, asked at ${at}`)
  const { verdict, moved, paid } = asked
  if (verdict.is !== 'final' || !isSound(asked, comparesAmounts)) {
    return unchecked(`The servers gave no sure answer about the transaction, asked at ${at}`)
  }
  const amounts =
    moved === null
      ? ''
      : `. The payer moved at least as much as the payouts that were compared, ${formatAmount(paid)}. The server lists them`
  return passed(`The transaction is final, in ${verdict.place}, asked at ${at}${amounts}`)
}

/** Sum of payouts, and whether it has all of their transaction. */
type Owed = Readonly<{ paid: Amount; isWhole: boolean }>

/**
 * Adds the proved amount of an event to the other uncorrected payouts of its transaction, by the server's list. Of a long
 * list it takes the proved amount only. Undefined when the server contradicts the proof.
 */
async function* paidBy(log: Log, event: ProvedEvent, now: SignedCheckpoint): CheckSteps<Owed> {
  const { seq, tx, kots } = event
  // One more than is added up: a full page does not tell whether it is the last.
  const path = `events?tx=${encodeURIComponent(tx ?? '')}&type=payout&limit=${PAYOUTS_MAX + 1}`
  const { events, page }: EventsPage = JSON.parse(await servedText(log, path))
  const isWhole = events.length <= PAYOUTS_MAX && !page.hasMore
  const own = events.find((listed) => listed.seq === seq)
  if (own === undefined ? isWhole : own.kots !== kots || own.tx !== tx) {
    return yield* failed(`The server lists event ${seq} with other content than was proved, or not at all`)
  }
  let paid = parseAmount(kots ?? '') ?? ZERO
  const by = await correctedBy(log, seq)
  if (by !== null) {
    // Else a server could hide a wrong amount behind a correction that does not exist.
    const correction = yield* provedEvent(log, now, by)
    if (correction === undefined) return undefined
    if (correction.details?.['corrects'] !== seq)
      return yield* failed(`Event ${by} does not correct event ${seq}`)
    paid = ZERO
  }
  for (const other of isWhole ? events : []) {
    const amount = parseAmount(other.kots ?? '') ?? ZERO
    // A negative amount, which no payout has, would lower what is proved.
    if (other.seq !== seq && amount > ZERO && (await correctedBy(log, other.seq)) === null)
      paid = add(paid, amount)
  }
  return { paid, isWhole }
}

async function correctedBy(log: Log, seq: number): Promise<number | null> {
  const answer: EventCorrections = JSON.parse(await servedText(log, `events/${seq}/corrections`))
  return answer.correctedBy
}

/** Collects the transactions of a month, and asks the chain about a sample of them once the month is proved. */
async function* openMonth(log: Log, fields: ChainFields): CheckSteps<MonthTransactions> {
  const reached = yield* reachChain(log, fields)
  if (reached === undefined) return undefined
  const { chain, client, at } = reached
  const named = openNamedTransactions({
    key: crypto.getRandomValues(new Uint8Array(32)),
    sha256: sha256Sync,
    chain,
    recentFrom: msOf(Date.now() - RECENT_MS),
    sample: SAMPLE,
    largest: LARGEST,
    wanted: null,
  })
  return {
    add(line, detailsLine) {
      const { details }: EventDetails = JSON.parse(detailsLine ?? '{"details":null}')
      const corrects = details?.['corrects']
      const own = typeof corrects === 'number' ? { corrects: seqOf(corrects) } : null
      named.add({ event: parseEvent(line), details: own })
    },
    async *ask() {
      const { total, sampled, largest, malformed } = named.choose()
      for (const seq of malformed) yield failedStep(`Event ${seq} names no transaction of ${chain}`)
      const asked = await ask(client, fields.account, [...sampled, ...largest])
      const compares = fields.account !== null
      for (const one of asked) {
        const fault = faultOf(one)
        if (fault !== null) yield failedStep(`${placeOf(one.seqs)}: ${fault}, asked at ${at}`)
      }
      const sound = asked.filter((one) => isSound(one, compares))
      const open = asked.filter((one) => faultOf(one) === null).length - sound.length
      if (open > 0) yield unchecked(`${open} transactions got no sure answer from ${at}`)
      const drawn = sampled.filter(({ tx }) => sound.some((one) => one.tx === tx)).length
      if (sound.length > 0) {
        const first = `${sound.length} of the ${total} transactions of the month are final, asked at ${at}`
        yield passed([first, ...chanceLines(total, drawn)].join('. '))
      }
      if (compares) yield unchecked('Corrections of later months are not counted in the amounts')
      else yield unchecked('The amounts were not compared. Give the payer and the token')
    },
  }
}
