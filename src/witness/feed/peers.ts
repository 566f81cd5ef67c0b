import type { Witnessed } from '../../log/store/reader.ts'
import { formatVkey } from '../../tlog/vkey.ts'
import type { FedTree, Peer, PeerOutcome } from './fed-witness.ts'
import type { FeedChoice, FeedPace, WitnessRefusal } from './feed-settings.ts'

/** Longest wait before a witness that fails is asked again, in milliseconds, unless it asks for a longer one. */
export const FEED_FAILED_MS_MAX = 60_000

const UNASKED = { state: 'unasked', text: '', askedMs: 0, retryMs: 0, failures: 0 } as const

/** The chosen witnesses, with what the earlier run knew of each. Keys of one name at one address are one witness. */
export function peersOf({ witnesses }: FeedChoice, earlier: Witnessed | null): readonly Peer[] {
  const peers = new Map<string, Peer>()
  for (const { key, url } of witnesses) {
    const place = `${key.name} ${url}`
    const row = earlier?.witnesses.find(({ vkey }) => vkey === formatVkey(key))
    const cosigned = { size: row?.seq ?? 0, atMs: row?.atMs ?? null }
    const keys = [...(peers.get(place)?.keys ?? []), key]
    peers.set(place, { ...UNASKED, url, name: key.name, keys, size: cosigned.size, cosigned })
  }
  return [...peers.values()]
}

/** Whether a witness is to be asked about a tree at a time of the monotonic clock. */
export function mayBeAsked(
  peer: Peer,
  { text }: FedTree,
  monotonicMs: number,
  { idleMs }: FeedPace,
): boolean {
  return monotonicMs >= peer.retryMs && (peer.text !== text || monotonicMs - peer.askedMs >= idleMs)
}

/** Notes that a witness has cosigned a tree. */
export function noteCosigned(
  peer: Peer,
  { size, text }: FedTree,
  { atMs }: Extract<PeerOutcome, { is: 'cosigned' }>,
): void {
  Object.assign(peer, { size, text, state: 'cosigning', failures: 0, retryMs: 0, cosigned: { size, atMs } })
}

/** Notes a refusal, and waits longer after each. Returns whether it is to be reported. */
export function noteRefused(
  peer: Peer,
  { reason, retryAfterMs }: Extract<PeerOutcome, { is: 'refused' }>,
  monotonicMs: number,
  { roundMs }: FeedPace,
): boolean {
  peer.failures += 1
  // Another node of the log may have fed the witness first. This one has the same tree a moment later.
  const isMoment = reason === 'ahead' && peer.failures === 1
  const waitMs = isMoment ? 0 : Math.min(roundMs * 2 ** (peer.failures - 1), FEED_FAILED_MS_MAX)
  peer.retryMs = monotonicMs + Math.max(waitMs, retryAfterMs)
  if (!isMoment) peer.state = isSilence(reason) ? 'silent' : 'refusing'
  return !isMoment
}

/** Whether a refusal says nothing about the log: the witness is away, or asks for a pause. */
function isSilence(reason: WitnessRefusal): boolean {
  return reason === 'unreachable' || reason === 'limited' || reason === 'failed'
}
