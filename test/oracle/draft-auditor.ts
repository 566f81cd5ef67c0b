import { base58 } from '@scure/base'
import type { ImportDraft } from '../../sim/import-draft.ts'

/**
 * Checks drafts against the rules of the log, one after the other, and throws at the first that breaks a rule. It shares
 * no code with the simulator or the service: its tables are written from the specification.
 */
export type Auditor = Readonly<{
  take(draft: ImportDraft): void
  /** Number of drafts of each `type/kind`. */
  counts: ReadonlyMap<string, number>
  /** Balance of each account, in billionths. */
  balances: ReadonlyMap<string, bigint>
}>

type Books = {
  readonly counts: Map<string, number>
  readonly balances: Map<string, bigint>
  readonly states: Map<number, 'upcoming' | 'running' | 'paying' | 'paid'>
  /** Drafts that can still be corrected, by number. Only the newest are kept: corrections look back a few days. */
  readonly past: Map<number, ImportDraft>
  readonly cancelled: Map<number, string>
  number: number
  at: string
}

const PAST_MAX = 400_000
const MONEY = /^-?(0|[1-9]\d{0,17})\.\d{9}$/
const WHEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const WORD = /^[a-z][a-z0-9_]{0,31}$/

/** Accounts that give and receive, by type; `p` is the pool of the contest, `u` its unredeemed prizes. */
const MOVES: Readonly<Record<string, string>> = {
  'play/*': 'players>treasury',
  'pool/sponsor': 'world>p',
  'pool/returned': 'p>treasury',
  'pool/*': 'treasury>p',
  'prize/*': 'p>u',
  'payout/refund': 'p>players',
  'payout/loyalty': 'loyalty>players',
  'payout/*': 'u>players',
  'expiry/*': 'u>treasury',
  'burn/*': 'treasury>burned',
  'loyalty/accrual': 'treasury>loyalty',
  'treasury/deposit': 'world>treasury',
  'treasury/withdrawal': 'treasury>world',
}

/** Details that each type and kind must have. */
const MUST: Readonly<Record<string, readonly string[]>> = {
  'contest/scheduled': ['opensAt'],
  'contest/rescheduled': ['opensAt'],
  'contest/renamed': ['title'],
  'hold/*': ['reviewUntil'],
  'payout/loyalty': ['month'],
  'loyalty/scheduled': ['month', 'paysAt'],
  'loyalty/input': ['month', 'digest'],
  'loyalty/output': ['month', 'digest', 'recipients'],
  'price/usd': ['price'],
}

/** Contest states in which a type may occur. */
const STATES: Readonly<Record<string, string>> = {
  play: 'running',
  pool: 'upcoming running paying',
  prize: 'running paying',
  hold: 'running paying',
  payout: 'running paying',
  expiry: 'running paying',
}

const NEXT: Readonly<Record<string, string>> = {
  opened: 'upcoming>running',
  closed: 'running>paying',
  paid: 'paying>paid',
}

/** Opens an auditor for the drafts of a new log. */
export function openAuditor(): Auditor {
  const books: Books = {
    counts: new Map(),
    balances: new Map(),
    states: new Map(),
    past: new Map(),
    cancelled: new Map(),
    number: 0,
    at: '',
  }
  return { take: (draft) => audit(books, draft), counts: books.counts, balances: books.balances }
}

function audit(books: Books, draft: ImportDraft): void {
  const name = `${draft.type}/${draft.kind}`
  const check = (holds: boolean, what: string): void => {
    if (!holds) throw new Error(`${what}: ${JSON.stringify(draft)}`)
  }
  books.number++
  grammar(books, draft, check)
  books.at = draft.at
  books.counts.set(name, (books.counts.get(name) ?? 0) + 1)
  if (draft.type === 'correction') {
    cancel(books, draft, check)
    return
  }
  for (const field of MUST[name] ?? MUST[`${draft.type}/*`] ?? []) {
    check(draft.details !== undefined && field in draft.details, `lacks ${field}`)
  }
  const restates = draft.details === undefined ? undefined : Reflect.get(draft.details, 'restates')
  if (restates !== undefined) {
    check(books.cancelled.get(Number(restates)) === draft.type, 'restates what is not cancelled')
  }
  order(books, draft, restates !== undefined, check)
  move(books, draft, draft.type, draft.kind, amountOf(draft), check)
  if (draft.type !== 'contest' && draft.type !== 'hold') books.past.set(books.number, draft)
  if (books.past.size > PAST_MAX) for (const first of books.past.keys()) return void books.past.delete(first)
}

type Check = (holds: boolean, what: string) => void

function grammar(books: Books, draft: ImportDraft, check: Check): void {
  check(WHEN.test(draft.at), 'moment')
  check(draft.at >= books.at, 'at goes back')
  check(draft.ref.length <= 128 && draft.ref.endsWith(String(books.number)), 'ref out of order')
  check(WORD.test(draft.type) && WORD.test(draft.kind), 'word')
  check(draft.kots === undefined || MONEY.test(draft.kots), 'amount')
  check(draft.tx === undefined || base58.decode(draft.tx).length === 64, 'tx')
  check(draft.type !== 'payout' || draft.tx !== undefined, 'a payout names its transaction')
  const line = JSON.stringify(draft)
  check(line.length < 4096, 'line too long')
  check(!/0x[0-9a-f]{40}/i.test(line), 'address')
  for (const [field, value] of Object.entries(draft.details ?? {})) {
    if (typeof value !== 'string' || field === 'digest') continue
    check(value.length <= 200, `${field} too long`)
    check(!/[1-9A-HJ-NP-Za-km-z]{32,44}/.test(value), `${field} could be an address`)
    if (field.endsWith('At') || field.endsWith('Until')) check(WHEN.test(value), field)
  }
}

function cancel(books: Books, draft: ImportDraft, check: Check): void {
  const corrects = Number(Reflect.get(draft.details ?? {}, 'corrects'))
  const wrong = books.past.get(corrects)
  if (wrong === undefined) return check(false, 'corrects nothing, or twice')
  books.past.delete(corrects)
  check(draft.kind === wrong.type && draft.contestId === wrong.contestId, 'corrects another thing')
  check(amountOf(draft) === -amountOf(wrong), 'corrects another amount')
  books.cancelled.set(corrects, wrong.type)
  return move(books, draft, wrong.type, wrong.kind, amountOf(draft), check)
}

function order(books: Books, draft: ImportDraft, restates: boolean, check: Check): void {
  const { contestId, type, kind } = draft
  const ofContest = ['contest', ...Object.keys(STATES)].includes(type) && kind !== 'loyalty'
  check((contestId !== undefined) === ofContest, 'contestId')
  if (contestId === undefined) return
  const state = books.states.get(contestId)
  if (type !== 'contest') {
    const allowed = state !== undefined && (STATES[type] ?? '').split(' ').includes(state)
    return check(allowed || (state === 'paid' && restates), `state ${state}`)
  }
  if (kind === 'scheduled') {
    check(state === undefined, 'scheduled twice')
    books.states.set(contestId, 'upcoming')
  } else if (kind === 'renamed') {
    check(state !== undefined, 'renamed before it is planned')
  } else if (kind === 'rescheduled') {
    check(state === 'upcoming' || state === 'running', 'rescheduled late')
  } else if (kind === 'cancelled') {
    check(state === 'upcoming' || state === 'running', 'cancelled late')
    books.states.set(contestId, 'paying')
  } else {
    const [from, to] = (NEXT[kind] ?? '').split('>')
    check(state === from, `${kind} when ${state}`)
    books.states.set(contestId, to === 'running' || to === 'paying' ? to : 'paid')
    if (kind === 'paid') checkEmpty(books, contestId, check)
  }
  return undefined
}

function checkEmpty(books: Books, contestId: number, check: Check): void {
  for (const [account, balance] of books.balances) {
    const of = account.split(':')[1]
    if (of === String(contestId)) {
      check(balance === 0n, `paid while ${account} holds ${balance}`)
      books.balances.delete(account)
    }
  }
}

function move(
  books: Books,
  draft: ImportDraft,
  type: string,
  kind: string,
  amount: bigint,
  check: Check,
): void {
  const row = MOVES[`${type}/${kind}`] ?? MOVES[`${type}/*`]
  if (row === undefined) return
  check(draft.kots !== undefined, 'lacks kots')
  const names = row.split('>').map((name) => {
    if (name === 'p') return `pool:${draft.contestId}`
    return name === 'u' ? `unredeemed:${draft.contestId}:${kind}` : name
  })
  names.forEach((name, index) => {
    const after = (books.balances.get(name) ?? 0n) + (index === 0 ? -amount : amount)
    check(after >= 0n || ['players', 'world', 'burned'].includes(name), `${name} falls to ${after}`)
    books.balances.set(name, after)
  })
}

function amountOf(draft: ImportDraft): bigint {
  return BigInt((draft.kots ?? '0').replace('.', ''))
}
