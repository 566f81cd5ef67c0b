import { setTimeout as sleep } from 'node:timers/promises'
import type { LogReader } from '../../log/store/reader.ts'
import { seqOf } from '../../protocol/seq.ts'
import { parseNote } from '../../tlog/note.ts'
import { askPeer, type FedTree, type Peer } from './fed-witness.ts'
import { mayBeAsked, noteCosigned, noteRefused, peersOf } from './peers.ts'
import type { FeedChoice, FeedListener, FeedPace, FeedSurroundings } from './feed-settings.ts'
import { postCheckpoint } from './post-checkpoint.ts'
import { openWitnessedNotes } from './witnessed-notes.ts'

/** Parts of a feeder. */
type FeedParts = Readonly<{
  dataDirectory: string
  reader: Pick<LogReader, 'identity' | 'head' | 'snapshot'>
  choice: FeedChoice
  pace: FeedPace
  around: FeedSurroundings
  listener: FeedListener
}>

/**
 * Runs the feeder of a log until the signal: it asks the witnesses to cosign the newest checkpoint (C2SP tlog-witness), and
 * keeps the newest one with a quorum. It reads the log as any reader does, so no publication waits for it. All witnesses
 * are asked about the same tree, because a quorum is of one tree. Resolves when the last question has ended.
 */
export async function feedWitnesses(
  { dataDirectory, reader, choice, pace, around, listener }: FeedParts,
  signal: AbortSignal,
): Promise<void> {
  const { now, monotonicMs, fetch } = around
  const notes = await openWitnessedNotes(dataDirectory, reader.identity.origin, choice)
  const peers = peersOf(choice, notes.earlier)
  const asked = new Map<Peer, Promise<void>>()

  const fail = (error: unknown): void => {
    if (!signal.aborted) listener.onFault(error)
  }

  function keep(): void {
    try {
      notes.keep(peers)
    } catch (error) {
      fail(error)
    }
  }

  async function ask(peer: Peer, tree: FedTree): Promise<void> {
    peer.askedMs = monotonicMs()
    const outcome = await askPeer(peer, tree, now, (url, question) =>
      postCheckpoint(url, question, signal, fetch),
    )
    if (outcome.is === 'refused') {
      if (noteRefused(peer, outcome, monotonicMs(), pace)) listener.onRefused(peer.name, outcome.reason)
      return keep()
    }
    if (outcome.wentBack) listener.onRefused(peer.name, 'went-back')
    noteCosigned(peer, tree, outcome)
    listener.onCosigned(peer.name, seqOf(tree.size), outcome.atMs)
    const witnessed = await notes.add(tree, outcome.signatures)
    keep()
    if (witnessed !== null) listener.onWitnessed(witnessed.seq, witnessed.atMs)
  }

  /** Asks every witness that is due about the newest tree. A slow one keeps no other waiting. */
  function askAll(): void {
    // An empty log has nothing to vouch for.
    if (reader.head().seq === 0) return
    const tree = newestTree(reader)
    for (const peer of peers) {
      if (asked.has(peer) || !mayBeAsked(peer, tree, monotonicMs(), pace)) continue
      const asking = ask(peer, tree)
        .catch(fail)
        .finally(() => asked.delete(peer))
      asked.set(peer, asking)
    }
  }

  const kept = notes.newest()
  if (kept !== null) listener.onWitnessed(kept.seq, kept.atMs)
  keep()
  while (!signal.aborted) {
    try {
      askAll()
    } catch (error) {
      fail(error)
    }
    await sleep(pace.roundMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
  await Promise.all(asked.values())
}

/** The newest tree of the log. Proofs are made while it is asked about, each in a snapshot of its own. */
function newestTree(reader: FeedParts['reader']): FedTree {
  const { size, note } = reader.snapshot(({ head, tree }) => ({ size: head.seq, note: tree.checkpoint() }))
  const parsed = parseNote(Buffer.from(note))
  const text = parsed.ok ? parsed.value.text : ''
  const growth: FedTree['growth'] = (from) => reader.snapshot(({ tree }) => tree.growth(from, size))
  return { size, note, text, growth }
}
