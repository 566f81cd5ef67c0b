import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { Fold } from '../../project/fold/fold.ts'
import type { Draft } from '../../protocol/draft.ts'
import { type EarlierHeld, NONE_EARLIER } from './decide.ts'
import { type ExpectedBooks, openExpectedBooks } from './expected-books.ts'
import type { HeldDrafts, HeldGroup } from './held-drafts.ts'

/** Earlier held drafts of one contest, to which more are added as the caller goes on. */
type GrowingEarlier = EarlierHeld &
  Readonly<{
    hold(draft: Draft): void
    publish(draft: Draft): void
  }>

/** Opens the expected books of `before` when they are first asked for. `hold` and `publish` keep them up to date. */
export function openEarlier(published: () => Fold, before: () => Iterable<HeldDraft>): GrowingEarlier {
  let books: ExpectedBooks | undefined
  const open = (): ExpectedBooks => {
    const opened = openExpectedBooks(published)
    for (const { draft } of before()) opened.hold(draft)
    return opened
  }
  return {
    any() {
      for (const _held of before()) return true
      return false
    },
    anyPlay() {
      for (const { draft } of before()) if (draft.type === 'play') return true
      return false
    },
    refusalOf: (draft) => (books ??= open()).refusalOf(draft),
    hold: (draft) => books?.hold(draft),
    publish(draft) {
      // Amounts add up in any order. Moves of a contest do not, so its books are opened again.
      if (draft.type === 'contest') books = undefined
      else books?.publish(draft)
    },
  }
}

/** Contests whose expected books are in memory at most; beyond that all are forgotten. */
const CONTESTS_CACHED_MAX = 1_000

/** Held drafts as each new draft finds them. */
export type EarlierCache = Readonly<{
  of(group: HeldGroup): EarlierHeld
  hold(draft: Draft): void
  publish(draft: Draft): void
  /** Must be called when drafts of the group are held no more, or when a request was dropped. */
  forget(group: HeldGroup): void
  clear(): void
}>

/** Opens the cache of expected books for new drafts. A draft of a contest without held drafts costs one look-up. */
export function openEarlierCache(published: () => Fold, held: HeldDrafts): EarlierCache {
  const cache = new Map<HeldGroup, GrowingEarlier>()
  return {
    of(group) {
      if (group === null || !held.has(group)) return NONE_EARLIER
      const known = cache.get(group)
      if (known !== undefined) return known
      if (cache.size >= CONTESTS_CACHED_MAX) cache.clear()
      const opened = openEarlier(published, () => held.inGroup(group))
      cache.set(group, opened)
      return opened
    },
    hold: (draft) => cache.get(draft.contestId)?.hold(draft),
    publish: (draft) => cache.get(draft.contestId)?.publish(draft),
    forget: (group) => void cache.delete(group),
    clear: () => cache.clear(),
  }
}
