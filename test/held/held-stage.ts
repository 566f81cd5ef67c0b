import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAppender } from '../../src/log/append.ts'
import { openHeldCounts } from '../../src/log/held/held-tables.ts'
import { openHeldDrafts } from '../../src/publish/held-drafts.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import type { FinalityCounts } from '../../src/log/store/reader.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Outcome } from '../../src/publish/admission/outcome.ts'
import type { BalancesSetting, BooksRefusal } from '../../src/publish/admission/admission.ts'
import { parseDraft } from '../../src/publish/admission/grammar.ts'
import { type CommitQueue, openCommitQueue } from '../../src/publish/commit-queue.ts'
import { testSigner } from '../story/signing.ts'
import { assertConsistent, linesOf } from '../stage/publish-stage.ts'
import { WRONG_CLOCK } from '../../src/publish/commit-path.ts'

/** A draft as a publisher sends it. */
export type SentDraft = Readonly<{
  ref: string
  type: string
  kind: string
  contestId?: number
  kots?: string | null
  tx?: string
  details?: object
}>

/** A commit queue on a store of its own, in this process. */
export type HeldStage = Disposable &
  Readonly<{
    path: string
    queue(): CommitQueue
    /** Publishes drafts, and returns `ref status` of each, or the refusal as text. */
    send(...drafts: readonly SentDraft[]): Promise<string>
    outcome(drafts: readonly SentDraft[]): Promise<Outcome>
    /** Sends the chain's word on transactions: final, unless another word is given. */
    settle(txs: readonly string[], is?: 'final' | 'failed' | 'excess'): Promise<string>
    /** Published events: `type/kind` and amount without its zeros. */
    published(): readonly string[]
    lines(): readonly string[]
    /** Held drafts: ref, and the reason if there is one. */
    held(): readonly string[]
    /** Counts that readers see. */
    counts(): FinalityCounts
    irregular: readonly BooksRefusal[]
    /** Gives the store no more pages than it has, or as many as it wants. */
    limitPages(isFull: boolean): void
    /** Sets whether the clock can be believed. */
    believeClock(agrees: boolean): void
    /** Closes the store and opens it again. */
    reopen(settings?: HeldStageSettings): void
    clock(ms: number): void
  }>

type HeldStageSettings = Readonly<{ asksChain?: boolean; balances?: BalancesSetting }>

const START_MS = Date.UTC(2026, 9, 1)

export function openHeldStage(first: HeldStageSettings = {}): HeldStage {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-held-'))
  const path = storePath(directory)
  createStore(path, { origin: 'daybook.test/held', chain: 'opaque', simulated: false })
  const irregular: BooksRefusal[] = []
  let nowMs = START_MS
  let clockAgrees = true
  const open = ({ asksChain = true, balances = 'refuse' }: HeldStageSettings) => {
    const db = openForWriting(path)
    // No test here stops the machine, and thousands of commits would wait minutes for a slow disk.
    db.exec('PRAGMA synchronous = OFF')
    const queue = openCommitQueue({
      appender: openAppender(db, testSigner(db)),
      held: openHeldDrafts(db, asksChain),
      balances,
      now: () => msOf(nowMs),
      refusal: () => (clockAgrees ? null : WRONG_CLOCK),
      monotonicMs: () => 0,
      onDurable: () => undefined,
      onCommit: () => undefined,
      onHeld: () => undefined,
      onIrregular: (refusal) => irregular.push(refusal),
      isDiskFull: () => false,
      onFull: () => undefined,
      // A commit may be left when a test ends.
      onBroken: (error) => assert.ok(!db.isOpen, String(error.cause)),
    })
    return { db, queue }
  }
  let opened = open(first)
  const outcome = (drafts: readonly SentDraft[]): Promise<Outcome> => opened.queue.submit(drafts.map(parsed))
  return {
    path,
    irregular,
    queue: () => opened.queue,
    outcome,
    async send(...drafts) {
      const answered = await outcome(drafts)
      if (!answered.ok)
        return `${answered.faults?.[0]?.index ?? null}: ${answered.code} ${answered.field} ${answered.reason}`
      return answered.receipts.map(({ ref, status }) => `${ref} ${status}`).join(', ')
    },
    async settle(txs, is = 'final') {
      const reason = is === 'failed' ? 'the transaction failed' : 'more than was moved'
      const words = txs.map((tx) => ({ tx: txOf(tx), is, place: 'slot 1', reason }))
      const settled = await opened.queue.held.settle(words, CHAIN)
      assert.ok(settled.ok)
      return `${settled.published} published, ${settled.failed} failed, ${settled.refused} refused`
    },
    published: () => linesOf(path).map(shortLine),
    lines: () => linesOf(path),
    held: () =>
      opened.queue.held
        .list(0, 100_000)
        .map(({ ref, reason }) => (reason === null ? ref : `${ref} (${reason})`)),
    counts: () => openHeldCounts(opened.db)(),
    reopen(settings = {}) {
      opened.db.close()
      opened = open(settings)
    },
    clock: (ms) => void (nowMs = START_MS + ms),
    limitPages(isFull) {
      const pages = Number(opened.db.prepare('PRAGMA page_count').get()?.['page_count'])
      opened.db.exec(`PRAGMA max_page_count = ${isFull ? pages : 1_000_000}`)
    },
    believeClock: (agrees) => void (clockAgrees = agrees),
    [Symbol.dispose]() {
      opened.db.close()
      assertConsistent(path)
      rmSync(directory, { recursive: true })
    },
  }
}

/** Id of the blockchain that settles drafts. */
export const CHAIN = 'chain-of-the-stage'

/** A transaction id that the form of opaque ones allows. */
export function txOf(name: string): string {
  return `transaction-${name}`
}

function parsed(draft: SentDraft): Draft {
  const tx = draft.tx === undefined ? null : txOf(draft.tx)
  const outcome = parseDraft({ ...draft, tx }, { chain: 'opaque', mode: 'publish' })
  assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.field}: ${outcome.reason}`)
  return outcome.draft
}

function shortLine(line: string): string {
  const { type, kind, kots }: { type: string; kind: string; kots: string | null } = JSON.parse(line)
  return kots === null ? `${type}/${kind}` : `${type}/${kind} ${Number(kots)}`
}
