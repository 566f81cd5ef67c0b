import { ZERO } from '../../src/protocol/amount.ts'
import { assert } from '../../src/protocol/brand.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { type ContestId, seqOf } from '../../src/protocol/seq.ts'
import type { Fold } from '../../src/project/fold/fold.ts'
import { type BalancesSetting, type BooksRefusal, judgeDraft } from '../../src/publish/admission/admission.ts'
import { openMemoryLog } from '../story/memory-log.ts'

/** A held draft of the model. `word`: whose word it still needs, or has. */
type ModelHeld = { readonly draft: Draft; word: 'asked' | 'final' | 'vouched' | 'none' }

/** Answer of the model to a request: a receipt for each draft, or the code and place of the refusal. */
export type ModelAnswer = readonly string[] | string

/** Section 4 of the specification, "Final only", written as plainly as it reads. Every check counts the log anew. */
export type HeldModel = Readonly<{
  published: readonly Draft[]
  held: readonly ModelHeld[]
  submit(drafts: readonly Draft[]): ModelAnswer
  settle(words: ReadonlyMap<string, 'final' | 'failed' | 'excess'>): void
  vouch(ref: string): void
  drop(ref: string): void
  release(): void
  /** A start: the next commit asks the books again for all held drafts. */
  reopen(): void
  /** Refs of held drafts that need no word and that the books refuse. */
  refused(): readonly string[]
}>

type ModelState = {
  readonly balances: BalancesSetting
  published: Draft[]
  held: ModelHeld[]
  ended: Map<string, readonly [draft: Draft, state: 'failed' | 'dropped']>
  isStarting: boolean
}

export function openHeldModel(balances: BalancesSetting): HeldModel {
  const state: ModelState = { balances, published: [], held: [], ended: new Map(), isStarting: false }

  /** Takes the first draft off the line and publishes it. */
  function publish(waiting: ModelHeld): void {
    state.held = state.held.filter((each) => each !== waiting)
    state.published.push(waiting.draft)
  }

  /** A commit publishes held drafts of these contests. After an event of no contest or a start, it asks all contests. */
  function release(contests: ReadonlySet<ContestId | null> | 'all'): void {
    const asksAll = contests === 'all' || contests.has(null) || state.isStarting
    state.isStarting = false
    for (let before = -1; before !== state.published.length;) {
      before = state.published.length
      for (const waiting of state.held) {
        const { draft, word } = waiting
        const walked = asksAll || contests.has(draft.contestId)
        if (walked && word !== 'asked' && judge(state, waiting.draft) === 'publish') publish(waiting)
      }
    }
  }

  function end(waiting: ModelHeld, as: 'failed' | 'dropped'): void {
    state.held = state.held.filter((each) => each !== waiting)
    state.ended.set(waiting.draft.ref ?? '', [waiting.draft, as])
  }

  return {
    get published() {
      return state.published
    },
    get held() {
      return state.held
    },
    submit(drafts) {
      const before = { published: [...state.published], held: [...state.held] }
      const answer: string[] = []
      const touched = new Set<ContestId | null>()
      for (const [index, draft] of drafts.entries()) {
        const receipt = known(state, draft) ?? take(state, draft)
        if (receipt.startsWith('refused')) {
          Object.assign(state, before)
          release(touched)
          return receipt.replace('refused', String(index))
        }
        if (receipt.startsWith('published')) touched.add(draft.contestId)
        answer.push(receipt)
      }
      release(touched)
      return answer
    },
    settle(words) {
      for (const waiting of state.held) {
        const word = waiting.word === 'asked' ? words.get(waiting.draft.tx ?? '') : undefined
        if (word === 'final') waiting.word = 'final'
        if (word === 'failed') end(waiting, 'failed')
      }
      release('all')
    },
    vouch(ref) {
      const waiting = state.held.find(({ draft, word }) => draft.ref === ref && word === 'asked')
      if (waiting !== undefined) waiting.word = 'vouched'
      release('all')
    },
    drop(ref) {
      const waiting = state.held.find(({ draft }) => draft.ref === ref)
      if (waiting !== undefined) end(waiting, 'dropped')
      release('all')
    },
    release: () => release('all'),
    reopen: () => void (state.isStarting = true),
    refused: () =>
      state.held.flatMap(({ draft, word }) =>
        word !== 'asked' && judge(state, draft) === 'refuse' ? [draft.ref ?? ''] : [],
      ),
  }
}

function known({ published, held, ended }: ModelState, draft: Draft): string | undefined {
  const seq = published.findIndex(({ ref }) => ref === draft.ref) + 1
  const waiting = held.find((each) => each.draft.ref === draft.ref)
  const [lost, as] = ended.get(draft.ref ?? '') ?? []
  const before = published[seq - 1] ?? waiting?.draft ?? lost
  if (before === undefined) return undefined
  if (contentOf(before) !== contentOf(draft)) return 'refused ref-conflict'
  return seq > 0 ? `duplicate ${seq}` : (as ?? 'held')
}

function take(state: ModelState, draft: Draft): string {
  const verdict = judge(state, draft)
  if (verdict === 'refuse') return `refused ${refusalOf(booksOf(state.published), draft)?.code ?? ''}`
  if (verdict === 'publish' && draft.tx === null) {
    state.published.push(draft)
    return `published ${state.published.length}`
  }
  state.held.push({ draft, word: draft.tx === null ? 'none' : 'asked' })
  return 'held'
}

/** Fate of a draft, apart from its transaction. It looks at the drafts of its contest that were held before it. */
function judge({ balances, published, held }: ModelState, draft: Draft): 'publish' | 'wait' | 'refuse' {
  const place = held.findIndex((each) => each.draft === draft)
  const earlier = (place < 0 ? held : held.slice(0, place))
    .map((each) => each.draft)
    .filter(({ contestId }) => contestId !== null && contestId === draft.contestId)
  const accepts = refusalOf(booksOf(published), draft) === null
  const expects =
    earlier.length > 0 && refusalOf(booksOf([...published, ...earlier]), draft, published) === null
  if (!accepts && expects) return 'wait'
  if (judgeDraft(booksOf(published), draft, balances).refusal !== null) return 'refuse'
  return mustWait(draft, earlier) ? 'wait' : 'publish'
}

function mustWait({ type, kind }: Draft, earlier: readonly Draft[]): boolean {
  const name = `${type}/${kind}`
  if (name === 'contest/closed') return earlier.some((each) => each.type === 'play')
  if (type === 'prize' || type === 'hold' || type === 'payout') {
    return earlier.some((each) => each.type === 'contest' && ['closed', 'cancelled'].includes(each.kind))
  }
  const waits = ['pool/returned', 'contest/cancelled', 'contest/paid', 'correction/prize']
  return earlier.length > 0 && (type === 'expiry' || waits.includes(name))
}

/** Reason why the books refuse a draft. It may refer to published events only. */
function refusalOf(books: Fold, draft: Draft, published?: readonly Draft[]): BooksRefusal | null {
  const { corrects = 0, restates = 0 } = draft.details ?? {}
  if (published !== undefined && Math.max(corrects, restates) > published.length) {
    return { code: 'wrong-state', field: 'details', reason: 'no event has this seq' }
  }
  return judgeDraft(books, draft, 'refuse').refusal
}

/** The books after these drafts, one after the other. */
function booksOf(drafts: readonly Draft[]): Fold {
  const log = openMemoryLog()
  for (const [index, { type, kind, contestId, kots, tx, details }] of drafts.entries()) {
    log.add({ event: { seq: seqOf(index + 1), type, kind, atMs: msOf(0), contestId, kots, tx }, details })
  }
  return log.fold()
}

function contentOf({ ref: _ref, ...content }: Draft): string {
  return JSON.stringify(content, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/** Asserts that no account inside the platform is negative. */
export function assertCovered(published: readonly Draft[]): void {
  const { tally } = booksOf(published)
  const { treasury, runningPools, prizesNotRedeemed, loyaltyFund } = tally.figures
  for (const figure of [treasury, runningPools, prizesNotRedeemed, loyaltyFund])
    assert(figure >= ZERO, 'covered')
}
