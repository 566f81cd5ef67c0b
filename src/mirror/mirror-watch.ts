import type { MIRROR_WAITS } from '../protocol/enumerations.ts'
import type { UpstreamMirror } from '../protocol/endpoints/description-endpoints.ts'
import { MINUTE_MS, type Ms } from '../protocol/moment.ts'
import type { FollowingParts } from './live/following.ts'
import type { OriginHeld, MirrorStore } from './live/mirror-store.ts'
import type { MirrorSettings } from './mirror-settings.ts'
import type { Origin } from './origin/open-origin.ts'
import type { Contradicted } from './proof/contradiction.ts'

export type MirrorWait = (typeof MIRROR_WAITS)[number]

/** State of a mirror and of its origin. */
export type MirrorState = Readonly<{
  originUrl: string
  /** Name of the log in its checkpoints. */
  origin: string
  /** Id of the log. */
  log: string
  /** Verifier keys that prove the log, and whether they came from the log itself at first use. */
  pinned: readonly string[]
  pinnedOnFirstUse: boolean
  /** Time at which the origin last showed a checkpoint that agrees with the whole mirror; null before the first. */
  provedAt: Ms | null
  /** Newest seq that the origin has recently shown, proved or not. */
  originHead: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /** Longest possible delay of the mirror in milliseconds, including the mirrors that it follows; 0 without delay. */
  behindMs: number
  /** Moment of the origin's last answer. Null before the first answer. */
  lastContactAt: Ms | null
  /** Reason why the mirror cannot follow now; null when it can. */
  fault: string | null
  /** The reason in one word, even before the first proof since the start; null while the mirror follows. */
  waits: MirrorWait | null
  /** Contradiction that has stopped the mirror permanently; null while it follows. */
  contradicted: Contradicted | null
  /** Held drafts in the origin's status, and the time of the status. */
  held: OriginHeld | null
  /** The origin, if it is a mirror, and the mirrors that it follows, from their status. */
  upstream: readonly UpstreamMirror[]
}>

type Watch = Pick<FollowingParts, 'onOriginHead' | 'onProved' | 'onStatus'> &
  Readonly<{
    onContact(): void
    onFault(reason: string, waits: MirrorWait): void
    onContradiction(found: Contradicted): Contradicted
    /** Whether the mirror follows without a fault. */
    isWell(): boolean
    state(): MirrorState
    /** Stores the times of the last proof and contact for the next start. */
    keep(): void
  }>

/** Time between two writings of these moments. */
const KEEP_MS = MINUTE_MS

/** Opens the state of a mirror. `onFault` is called when the fault changes. */
export function openWatch(
  settings: Pick<MirrorSettings, 'now'>,
  store: MirrorStore,
  origin: Pick<Origin, 'url' | 'around'>,
  onFault: (fault: string | null) => void,
): Watch {
  const now = (): number => origin.around.now()
  const originHead = openOriginHead(store.shownSeq)
  let seen = store.seen()
  // The first proof is stored immediately, with the keys that it needed.
  let keptMs = now() - KEEP_MS
  /** Time since which the mirror may lack events; null while it lacks none. */
  let behindSince: number | null = now() - Math.max(0, settings.now() - (seen.provedAt ?? settings.now()))
  let provedMs = behindSince
  let fault: string | null = null
  let waits: MirrorWait | null = 'starting'
  let contradicted: Contradicted | null = null
  let held = store.held()
  let upstream: readonly UpstreamMirror[] = []
  let statusMs = 0

  function setFault(reason: string | null): void {
    const isChanged = fault !== reason
    fault = reason
    if (isChanged) onFault(reason)
  }

  function noteHead(): void {
    if (originHead.missing() > 0) behindSince ??= now()
  }

  function keep(): void {
    keptMs = now()
    try {
      store.putSeen(seen)
    } catch {
      // The disk may be full. The next start then has earlier times.
    }
  }

  /** Delay of this mirror, with that of the mirrors upstream. */
  function behindMs(): number {
    const at = now()
    const since = behindSince ?? at
    const [first] = upstream
    if (first === undefined) return Math.round(at - since)
    // While a mirror does not follow, its delay has grown until its last proof.
    const grown = first.state === 'following' ? 0 : Math.max(0, since - statusMs)
    return Math.round(at - since + first.behindMs + grown)
  }

  return {
    onContact: () => void (seen = { ...seen, contactAt: settings.now() }),
    onOriginHead(seq) {
      originHead.shown(seq)
      noteHead()
    },
    onFault(reason, why) {
      behindSince ??= provedMs
      waits = why
      setFault(reason)
    },
    isWell: () => fault === null,
    onProved(askedMs) {
      seen = { ...seen, provedAt: settings.now() }
      if (now() - keptMs >= KEEP_MS) keep()
      provedMs = askedMs
      originHead.proved()
      behindSince = originHead.missing() > 0 ? askedMs : null
      waits = null
      setFault(null)
    },
    onStatus(status) {
      originHead.claimed(status.head)
      noteHead()
      upstream = status.upstream
      statusMs = now()
      if (status.held === null) return
      const isChanged = JSON.stringify(held?.counts) !== JSON.stringify(status.held)
      held = { counts: status.held, notedAt: settings.now() }
      if (isChanged) store.putHeld(held)
    },
    onContradiction(found) {
      contradicted = found
      behindSince ??= provedMs
      setFault(found.reason)
      return found
    },
    keep,
    state: () => ({
      originUrl: origin.url,
      origin: store.identity.origin,
      log: store.identity.id,
      pinned: store.pins.vkeys,
      pinnedOnFirstUse: store.pins.firstUse,
      provedAt: seen.provedAt,
      originHead: originHead.read(),
      behindEvents: originHead.missing(),
      behindMs: behindMs(),
      lastContactAt: seen.contactAt,
      fault,
      waits,
      contradicted,
      held,
      upstream,
    }),
  }
}

/**
 * Opens the newest seq that the origin has shown. It is unproved, so a seq counts only until the second proof after it.
 * The seq in the origin's status counts until the next status.
 */
function openOriginHead(head: () => number): Readonly<{
  shown(seq: number): void
  claimed(seq: number): void
  proved(): void
  read(): number
  /** Number of events up to it that the mirror has not proved. */
  missing(): number
}> {
  let newest = head()
  let sinceProof = 0
  let claim = 0
  return {
    read: () => newest,
    missing: () => Math.max(0, newest - head()),
    shown(seq) {
      sinceProof = Math.max(sinceProof, seq)
      newest = Math.max(newest, seq)
    },
    claimed(seq) {
      claim = seq
      newest = Math.max(newest, seq)
    },
    proved() {
      newest = Math.max(sinceProof, claim, head())
      sinceProof = 0
    },
  }
}
