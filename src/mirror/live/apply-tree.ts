import { WrongError } from '../../verify/reading/finding.ts'
import { MismatchError } from '../book/mirror-book.ts'
import { catchUpWith, openEntryTaker, withServedMonths } from '../book/catch-up.ts'
import { ContradictionError } from '../proof/contradiction.ts'
import type { Origin } from '../origin/open-origin.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import type { ProvenTree } from '../proof/proven-tree.ts'
import type { MirrorStore } from './mirror-store.ts'
import type { StreamFeed } from './stream-feed.ts'

/** Parts with which a larger tree is applied. */
type ApplyParts = Readonly<{
  origin: Origin
  store: MirrorStore
  keys: OriginKeys
  /** Folder for downloaded files. */
  folder: string
  archiveEventsMin: number
  signal: AbortSignal
}>

/**
 * Events after which the end of a month that a trusted key has signed is committed by itself, so that no transaction
 * grows with a long gap.
 */
const MONTH_COMMIT_EVENTS = 10_000
/** Longest wait for events that a checkpoint covers and the stream has not brought, in milliseconds. */
const STREAM_WAIT_MS = 2_000
/** Attempts to read events whose tree is not the signed one: an answer may have been damaged on its way. */
const PROOF_ATTEMPTS_MAX = 3
const RETRY_MS = 1_000

/**
 * Applies a larger tree that the log has signed, in one commit, from the stream. Returns false when the stream has shown
 * other events, or none: it is then of no use.
 */
export async function applyFromStream(
  { origin, store, keys, signal }: ApplyParts,
  feed: StreamFeed,
  tree: ProvenTree,
): Promise<boolean> {
  const { book } = store
  const after = book.head().seq
  let entries = feed.take(after, tree.size)
  if (entries === null && feed.error() === null) {
    await feed.news(STREAM_WAIT_MS)
    entries = feed.take(after, tree.size)
  }
  if (entries === null) return false
  const taker = openEntryTaker({ origin, book, keys, signal }, () => undefined)
  return inTransaction(store, keys, tree, () => taker.take(entries, tree.size)).then(
    () => true,
    (error: unknown) => {
      if (isWrong(error)) return false
      throw error
    },
  )
}

/** Applies a larger tree from month files and pages. Throws a `ContradictionError` when they show other events. */
export async function applyFromPages(parts: ApplyParts, tree: ProvenTree): Promise<void> {
  const { origin, store, keys, signal } = parts
  const { book } = store
  for (let attempt = 1; ; attempt += 1) {
    try {
      await withServedMonths({ ...parts, book }, () =>
        inTransaction(store, keys, tree, () =>
          catchUpWith(
            {
              ...parts,
              book,
              onBatch: () => false,
              onMonthEnd({ trusted: end }) {
                // The target proves every other end, in one transaction with it: anyone can list a retired key.
                if (end === null || end.size >= tree.size) return
                if (end.size - store.shownSeq() < MONTH_COMMIT_EVENTS) return
                store.putKeys(keys)
                store.commit(end)
                book.begin()
              },
            },
            tree,
          ),
        ),
      )
      return
    } catch (error) {
      if (!isWrong(error)) throw error
      if (attempt >= PROOF_ATTEMPTS_MAX) {
        const files = { 'own.checkpoint': store.checkpoint(), 'served.checkpoint': tree.note }
        throw new ContradictionError(error.message, { ...origin.shown(), ...files }, { cause: error })
      }
      await origin.around.sleep(RETRY_MS * attempt, signal)
    }
  }
}

const isWrong = (error: unknown): error is WrongError | MismatchError =>
  error instanceof WrongError || error instanceof MismatchError

async function inTransaction(
  store: MirrorStore,
  keys: OriginKeys,
  tree: ProvenTree,
  take: () => Promise<void>,
): Promise<void> {
  store.book.begin()
  try {
    await take()
    store.putKeys(keys)
    store.commit(tree)
  } catch (error) {
    store.book.rollback()
    throw error
  }
}
