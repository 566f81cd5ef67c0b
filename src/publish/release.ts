import type { Appender } from '../log/append.ts'
import type { HeldDraft } from '../log/held/held-draft.ts'
import type { Ms } from '../protocol/moment.ts'
import type { BalancesSetting, BooksRefusal } from './admission/admission.ts'
import { draftDigest } from './admission/grammar.ts'
import { decide, type ExpectedBooks, type ExpectedCache, NOTHING_HELD, openExpectedBooks } from './decide.ts'
import { type HeldDrafts, type HeldGroup, isReady } from './held-drafts.ts'

/** Groups whose held drafts may go now: one, those that depend on others (on the treasury, for example), or all. */
type Touched = HeldGroup | 'dependent' | 'all'

/** Publishes held drafts whose turn has come. */
export type Release = Readonly<{
  /**
   * Begins a commit, whose runs share one limit. Repeats the changes of an earlier commit that never became durable.
   */
  begin(): void
  /** Must be called when the commit is on the disk. */
  durable(): void
  /** Marks a change. `all` is for a start, a change of the leading node, and a command of the operator. */
  touch(touched: Touched): void
  /** Publishes the ready drafts of the changed groups. Returns their number. */
  run(): number
  /** Whether another commit is needed: the last one reached its limit, or it is not durable. */
  isUnfinished(): boolean
}>

export type ReleaseSettings = Readonly<{
  appender: Appender
  held: HeldDrafts
  expected: ExpectedCache
  balances: BalancesSetting
  now(): Ms
  /** Whether the commit has room for a further draft. */
  hasRoom(): boolean
  /** Called for each draft that was published despite a wrong order or balance. */
  onIrregular(refusal: BooksRefusal): void
}>

/** Most held drafts that one commit publishes. Limits how long readers and publishers wait for the commit. */
const RELEASE_DRAFTS_MAX = 10_000

/**
 * Opens the release of held drafts. A run walks the groups in order of acceptance and checks each ready draft against
 * the books. It repeats until a walk publishes nothing.
 */
export function openRelease(settings: ReleaseSettings): Release {
  const { appender, held, expected } = settings
  /** Changes for the next run. A run leaves the groups here for which it has no room. */
  let due = new Set<Touched>()
  /**
   * Changes at the beginning of the open commit; null when it is durable. They stay due if it never becomes durable.
   */
  let begun: ReadonlySet<Touched> | null = null
  /** Drafts that this commit may still publish. */
  let left = RELEASE_DRAFTS_MAX

  return {
    begin() {
      left = RELEASE_DRAFTS_MAX
      begun = due.union(begun ?? NONE)
      due = new Set(begun)
    },
    durable: () => void (begun = null),
    touch: (touched) => void due.add(touched),
    run() {
      if (left === 0 || due.size === 0) return 0
      const groups = groupsOf(due, held)
      due = new Set()
      if (groups.length === 0) return 0
      let published = 0
      let walked: number
      do {
        walked = walk(settings, groups, left)
        published += walked
        left -= walked
      } while (walked > 0 && left > 0)
      if (left === 0 || !settings.hasRoom()) due = new Set(groups)
      if (published > 0) appender.write()
      for (const group of groups) expected.forget(group)
      return published
    },
    isUnfinished() {
      const asked = due.union(begun ?? NONE)
      // A commit that may be undone does not show which drafts are ready.
      if (begun === null && asked.has('all') && groupsOf(asked, held).length === 0) asked.delete('all')
      return asked.size > 0
    },
  }
}

const NONE: ReadonlySet<Touched> = new Set()

/** Due groups with a draft that does not wait for the chain. */
function groupsOf(due: ReadonlySet<Touched>, held: HeldDrafts): readonly HeldGroup[] {
  const groups = held.groups()
  const hasReady = (group: Touched): group is HeldGroup =>
    group !== 'all' && group !== 'dependent' && (groups.get(group)?.ready ?? 0) > 0
  if (due.has('all')) return [...groups.keys()].filter(hasReady)
  const asking = due.has('dependent') ? [...groups].filter(([, { dependent }]) => dependent > 0) : []
  return [...new Set([...due, ...asking.map(([group]) => group)])].filter(hasReady)
}

/** Walks the held drafts of the groups once. Returns the number of published ones, at most `publishMax`. */
function walk(settings: ReleaseSettings, groups: readonly HeldGroup[], publishMax: number): number {
  const { appender, held } = settings
  /** Passed drafts of each group that stay held, and the books with them. */
  const passed = new Map(
    groups.map((group) => {
      const before: HeldDraft[] = []
      return [group, { before, books: openExpectedBooks(appender.fold, () => before) }]
    }),
  )
  let published = 0
  const drafts = groups.flatMap((group) => [...(held.groups().get(group)?.drafts.values() ?? [])])
  for (const draft of groups.length <= 1 ? drafts : drafts.toSorted((a, b) => a.id - b.id)) {
    if (published >= publishMax || !settings.hasRoom()) break
    const { contestId } = draft.draft
    const own = passed.get(contestId)
    const books = contestId === null ? NOTHING_HELD : (own?.books ?? NOTHING_HELD)
    if (isReady(draft) && publishHeld(settings, draft, books)) {
      published += 1
      books.addPublished(draft.draft)
    } else {
      own?.before.push(draft)
      books.addHeld(draft.draft)
    }
  }
  return published
}

/**
 * Publishes a held draft if the books accept it and it waits for nothing. Otherwise it stays, with the reason of a
 * refusal.
 */
function publishHeld(settings: ReleaseSettings, waiting: HeldDraft, books: ExpectedBooks): boolean {
  const { appender, held, balances, onIrregular } = settings
  const { draft, ref } = waiting
  const decision = decide(appender.fold(), draft, books, balances)
  if (decision.is !== 'publish') {
    const reason = decision.is === 'refuse' ? reasonOf(decision.refusal, decision.expected) : null
    if (reason !== waiting.reason) held.change({ ...waiting, reason })
    return false
  }
  const event = appender.append(draft, { ref, digest: draftDigest(draft) }, settings.now())
  held.published(waiting, event.seq, event.atMs)
  if (decision.irregular !== null) onIrregular(decision.irregular)
  return true
}

/**
 * Reason why a refused draft stays held. The refusal of the expected books comes first, because the published ones may
 * still change.
 */
function reasonOf(refusal: BooksRefusal, expected: BooksRefusal | null): string {
  if (expected === null) return `${refusal.field}: ${refusal.reason}`
  return `${expected.field}: with the held drafts before it, ${expected.reason}`
}
