import type { MIRROR_WAITS } from '../protocol/enumerations.ts'
import type { UpstreamMirror } from '../protocol/endpoints/description-endpoints.ts'
import { MINUTE_MS, type Ms } from '../protocol/moment.ts'
import type { FollowingParts } from './live/following.ts'
import type { HeldWord, MirrorStore, Seen } from './live/mirror-store.ts'
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
  /** Verifier keys by which the log is proved, and whether they were taken from the log itself at the first use. */
  pinned: readonly string[]
  pinnedOnFirstUse: boolean
  /** Moment at which the origin last showed a checkpoint that agrees with the whole mirror. Null before the first. */
  provedAt: Ms | null
  /** Newest seq that the origin has shown of late, proved or not. */
  originHead: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /** Most milliseconds by which the mirror may be late, with the mirrors that it follows; 0 when it is not. */
  behindMs: number
  /** Moment of the origin's last answer. Null before the first answer. */
  lastContactAt: Ms | null
  /** Reason why the mirror cannot follow at present; null when it can. */
  fault: string | null
  /** The same in one word, also before the first proof since the start; null while the mirror follows. */
  waits: MirrorWait | null
  /** The contradiction that has stopped the mirror for good; null while it follows. */
  contradicted: Contradicted | null
  /** The origin's word about its held drafts, and when it gave it. */
  held: HeldWord | null
  /** The origin, if it is a mirror, and the mirrors that it follows, by their word. */
  upstream: readonly UpstreamMirror[]
}>

type Watch = Pick<FollowingParts, 'onOriginHead' | 'onProved' | 'onWord'> &
  Readonly<{
    onContact(): void
    onFault(reason: string, waits: MirrorWait): void
    onContradiction(found: Contradicted): Contradicted
    /** Whether the mirror follows without a fault. */
    isWell(): boolean
    state(): MirrorState
    /** Keeps the moments of the last proof and contact for the next start. */
    keep(): void
  }>

/** Time between two writings of these moments. */
const KEEP_MS = MINUTE_MS

/** Opens what a mirror knows about itself. `onFault` is called when the fault changes. */
export function openWatch(
  settings: Pick<MirrorSettings, 'now'>,
  store: MirrorStore,
  origin: Pick<Origin, 'url' | 'around'>,
  onFault: (fault: string | null) => void,
): Watch {
  const now = (): number => origin.around.now()
  const seen = openSeen(settings, store, now)
  const originHead = openOriginHead(store)
  /** Moment since which the mirror may lack something; null while it lacks nothing. */
  let behindSince: number | null =
    now() - Math.max(0, settings.now() - (seen.read().provedAt ?? settings.now()))
  let provedMs = behindSince
  const fault = openFault(onFault)
  let waits: MirrorWait | null = 'starting'
  let contradicted: Contradicted | null = null
  const word = openOriginWord(settings, store, now)

  function named(where: 'shown' | 'told', seq: number): void {
    originHead[where](seq)
    if (originHead.missing() > 0) behindSince ??= now()
  }

  return {
    onContact: seen.contact,
    onOriginHead: (seq) => named('shown', seq),
    onFault(reason, why) {
      behindSince ??= provedMs
      waits = why
      fault.tell(reason)
    },
    isWell: () => fault.reason() === null,
    onProved(askedMs) {
      seen.proved()
      provedMs = askedMs
      originHead.proved()
      behindSince = originHead.missing() > 0 ? askedMs : null
      waits = null
      fault.tell(null)
    },
    onWord(told) {
      named('told', told.head)
      word.take(told)
    },
    onContradiction(found) {
      contradicted = found
      behindSince ??= provedMs
      fault.tell(found.reason)
      return found
    },
    keep: seen.keep,
    state: () => ({
      originUrl: origin.url,
      origin: store.identity.origin,
      log: store.identity.id,
      pinned: store.pins.vkeys,
      pinnedOnFirstUse: store.pins.firstUse,
      provedAt: seen.read().provedAt,
      originHead: originHead.read(),
      behindEvents: originHead.missing(),
      behindMs: word.lateMs(now(), behindSince),
      lastContactAt: seen.read().contactAt,
      fault: fault.reason(),
      waits,
      contradicted,
      held: word.held(),
      upstream: word.upstream(),
    }),
  }
}

/**
 * Opens the newest seq that the origin has shown. Nothing proves it, so a seq counts until the second proof after it, and
 * the one in the origin's word about itself until its next word.
 */
function openOriginHead(store: MirrorStore): Readonly<{
  shown(seq: number): void
  told(seq: number): void
  proved(): void
  read(): number
  /** Events up to it that the mirror has not proved. */
  missing(): number
}> {
  const head = store.shownSeq
  let newest = head()
  let sinceProof = 0
  let word = 0
  return {
    read: () => newest,
    missing: () => Math.max(0, newest - head()),
    shown(seq) {
      sinceProof = Math.max(sinceProof, seq)
      newest = Math.max(newest, seq)
    },
    told(seq) {
      word = seq
      newest = Math.max(newest, seq)
    },
    proved() {
      newest = Math.max(sinceProof, word, head())
      sinceProof = 0
    },
  }
}

/** Opens the moments of the last proof and contact, which outlast a restart. */
function openSeen(
  settings: Pick<MirrorSettings, 'now'>,
  store: MirrorStore,
  now: () => number,
): Readonly<{ contact(): void; proved(): void; read(): Seen; keep(): void }> {
  let seen = store.seen()
  // The first proof is kept at once, with the keys that it needed.
  let keptMs = now() - KEEP_MS
  function keep(): void {
    keptMs = now()
    try {
      store.putSeen(seen)
    } catch {
      // The disk may be full. The next start then says earlier moments.
    }
  }
  return {
    contact: () => void (seen = { ...seen, contactAt: settings.now() }),
    proved() {
      seen = { ...seen, provedAt: settings.now() }
      if (now() - keptMs >= KEEP_MS) keep()
    },
    read: () => seen,
    keep,
  }
}

/** Opens the present fault. */
function openFault(
  onChange: (fault: string | null) => void,
): Readonly<{ tell(reason: string | null): void; reason(): string | null }> {
  let present: string | null = null
  return {
    reason: () => present,
    tell(reason) {
      if (present === reason) return
      present = reason
      onChange(reason)
    },
  }
}

/** The origin's newest word about itself. */
type OriginWord = Readonly<{
  take: FollowingParts['onWord']
  held(): HeldWord | null
  upstream(): readonly UpstreamMirror[]
  /** Delay at a moment, with that of the mirrors upstream, when this mirror lacks nothing, or may since another moment. */
  lateMs(at: number, behindSince: number | null): number
}>

function openOriginWord(
  settings: Pick<MirrorSettings, 'now'>,
  store: MirrorStore,
  now: () => number,
): OriginWord {
  let held = store.held()
  let upstream: readonly UpstreamMirror[] = []
  let toldMs = 0
  return {
    take(word) {
      upstream = word.upstream
      toldMs = now()
      if (word.held === null) return
      const isChanged = JSON.stringify(held?.counts) !== JSON.stringify(word.held)
      held = { counts: word.held, toldAt: settings.now() }
      if (isChanged) store.putHeld(held)
    },
    held: () => held,
    upstream: () => upstream,
    lateMs(at, behindSince) {
      const since = behindSince ?? at
      const [first] = upstream
      if (first === undefined) return Math.round(at - since)
      // The delay of a mirror that does not follow has grown until the last proof.
      const grown = first.state === 'following' ? 0 : Math.max(0, since - toldMs)
      return Math.round(at - since + first.behindMs + grown)
    },
  }
}
