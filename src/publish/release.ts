import type { Appender } from '../log/append.ts'
import type { HeldDraft } from '../log/held/held-draft.ts'
import type { Ms } from '../protocol/moment.ts'
import type { BalancesSetting, BooksRefusal } from './admission/admission.ts'
import { draftDigest } from './admission/grammar.ts'
import { decide, type EarlierHeld, NONE_EARLIER } from './decide.ts'
import { type HeldDrafts, type HeldGroup, isReady } from './held-drafts.ts'
import { type EarlierCache, openEarlier } from './expected-books.ts'

/** Publishes held drafts whose turn has come. */
export type Release = Readonly<{
  /** Begins a commit, whose runs share one limit. Includes again what a commit left that never became durable. */
  begin(): void
  /** Notes that the commit is on the disk, so that what it has asked is done. */
  durable(): void
  /** Notes that something changed for the held drafts of a group. */
  touch(group: HeldGroup): void
  /** Notes that something changed which other groups can ask for, such as the treasury. */
  touchDependent(): void
  /** Notes that something may have changed for all of them: a start, a change of the leading node, a command of the operator. */
  touchAll(): void
  /** Publishes what can be published in the groups that were touched. Returns how many drafts that are. */
  run(): number
  /** Whether another commit must go on: the last one reached its limit, or it is not durable. */
  isUnfinished(): boolean
}>

type ReleaseSettings = Readonly<{
  appender: Appender
  held: HeldDrafts
  earlier: EarlierCache
  balances: BalancesSetting
  now(): Ms
  /** Whether the commit has room for a further draft. */
  hasRoom(): boolean
  onIrregular(refusal: BooksRefusal): void
}>

/** Held drafts that one commit publishes at most. Bounds how long readers and publishers wait for the commit. */
const RELEASE_DRAFTS_MAX = 10_000

/**
 * Opens the release of held drafts. A run walks the groups in order of acceptance and asks the books again for each
 * draft that waits for no word of the chain, until a walk publishes nothing.
 */
export function openRelease(settings: ReleaseSettings): Release {
  const { appender, held, earlier } = settings
  /** Groups that the next run asks. It leaves here what it has no room for. */
  let due = nothingDue()
  /** Groups that the open commit began with; null once it is durable. A commit that never becomes durable leaves it due. */
  let begun: Due | null = null
  /** Drafts that this commit may still publish. */
  let left = RELEASE_DRAFTS_MAX

  function run(): number {
    const groups = groupsOf(due, held)
    due = nothingDue()
    let published = 0
    for (let walked = -1; walked !== 0 && left > 0; published += walked) {
      walked = walk(settings, groups, left)
      left -= walked
    }
    if (left === 0 || !settings.hasRoom()) for (const group of groups) due.groups.add(group)
    if (published > 0) appender.keep()
    for (const group of groups) earlier.forget(group)
    return published
  }

  return {
    begin() {
      left = RELEASE_DRAFTS_MAX
      due = bothOf(due, begun)
      begun = bothOf(due, null)
    },
    durable: () => void (begun = null),
    touch: (group) => void due.groups.add(group),
    touchDependent: () => void (due.dependent = true),
    touchAll: () => void (due.all = true),
    run: () => (left === 0 || (due.groups.size === 0 && !due.dependent && !due.all) ? 0 : run()),
    isUnfinished() {
      const { groups, dependent, all } = bothOf(due, begun)
      // A commit that may be undone does not show which drafts are ready.
      return groups.size > 0 || dependent || (all && (begun !== null || held.readyGroups().length > 0))
    },
  }
}

/** Groups that must be asked: these, those that ask for what others change, or all. */
type Due = { readonly groups: Set<HeldGroup>; dependent: boolean; all: boolean }

const nothingDue = (): Due => ({ groups: new Set(), dependent: false, all: false })

function bothOf(one: Due, other: Due | null): Due {
  return {
    groups: new Set([...one.groups, ...(other?.groups ?? [])]),
    dependent: one.dependent || other?.dependent === true,
    all: one.all || other?.all === true,
  }
}

/** The groups that are due, as far as a draft of them waits for no word of the chain. */
function groupsOf({ groups, dependent, all }: Due, held: HeldDrafts): readonly HeldGroup[] {
  if (all) return held.readyGroups()
  return [...new Set([...groups, ...(dependent ? held.dependentGroups() : [])])].filter(held.hasReady)
}

/** Walks the held drafts of the groups once. Returns how many it published, `publishMax` at most. */
function walk(settings: ReleaseSettings, groups: readonly HeldGroup[], publishMax: number): number {
  const { appender, held } = settings
  const passed = new Map(
    groups.map((group) => {
      const before: HeldDraft[] = []
      return [group, { before, earlier: openEarlier(appender.fold, () => before) }]
    }),
  )
  let published = 0
  for (const draft of inOrder(groups.map((group) => [...held.inGroup(group)]))) {
    if (published >= publishMax || !settings.hasRoom()) break
    const { contestId } = draft.draft
    const found = passed.get(contestId)
    const earlier = contestId === null ? NONE_EARLIER : (found?.earlier ?? NONE_EARLIER)
    if (isReady(draft) && publish(settings, draft, earlier)) {
      published += 1
      found?.earlier.publish(draft.draft)
    } else {
      found?.before.push(draft)
      found?.earlier.hold(draft.draft)
    }
  }
  return published
}

/** Publishes a held draft if it may go. Otherwise it stays, with the reason of the books when they refuse it. */
function publish(settings: ReleaseSettings, waiting: HeldDraft, earlier: EarlierHeld): boolean {
  const { appender, held, balances, onIrregular } = settings
  const { draft, ref } = waiting
  const decision = decide(appender.fold(), draft, earlier, balances)
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

/** Obstacle of a refused draft that stays held. The expected books name it: the published ones may still change. */
function reasonOf(refusal: BooksRefusal, expected: BooksRefusal | null): string {
  if (expected === null) return `${refusal.field}: ${refusal.reason}`
  return `${expected.field}: with the held drafts before it, ${expected.reason}`
}

function inOrder(groups: readonly (readonly HeldDraft[])[]): readonly HeldDraft[] {
  const [only = []] = groups
  return groups.length <= 1 ? only : groups.flat().toSorted((a, b) => a.id - b.id)
}
