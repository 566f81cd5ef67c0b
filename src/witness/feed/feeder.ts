import { setTimeout as sleep } from 'node:timers/promises'
import type { ListedWitness, LogReader, Witnessed, WitnessedCheckpoint } from '../../log/store/reader.ts'
import { seqOf } from '../../protocol/seq.ts'
import { formatVkey, type NoteSignature, parseNote, type VerifierKey } from '../../tlog/note.ts'
import type { FeedChoice, FeedListener, FeedPace, FeedSurroundings, WitnessRefusal } from './feed-settings.ts'
import { type CheckpointAnswer, type CheckpointRequest, postCheckpoint } from './post-checkpoint.ts'
import { newerWitnessed, vouchedCheckpoint } from '../../log/witnessed/vouched-checkpoint.ts'
import { keepWitnessed, openWitnessedFile } from '../../log/witnessed/witnessed-file.ts'
import { NODE_SIGNATURES } from '../../log/tree/signer.ts'
import { type Ms, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { AHEAD_SECONDS_MAX, openVouching } from '../../tlog/quorum.ts'

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
 * Runs the feeder of a log until the signal aborts. It asks the witnesses to cosign the newest checkpoint (C2SP
 * tlog-witness), and stores the newest one with a quorum. It reads the log as any reader does, so no publication waits
 * for it. All witnesses are asked about the same tree, because a quorum belongs to one tree. Resolves when the last
 * request has ended.
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

  /** Asks every witness that is due about the newest tree. A slow one does not delay the others. */
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

/** Newest tree of the log. Its proofs are made later, each in its own snapshot. */
function newestTree(reader: FeedParts['reader']): FedTree {
  const { size, note } = reader.snapshot(({ head, tree }) => ({ size: head.seq, note: tree.checkpoint() }))
  const parsed = parseNote(Buffer.from(note))
  const text = parsed.ok ? parsed.value.text : ''
  const growth: FedTree['growth'] = (from) => reader.snapshot(({ tree }) => tree.growth(from, size))
  return { size, note, text, growth }
}

/** Longest wait in milliseconds before a retry of a witness that fails, unless it asks for a longer one. */
export const FEED_FAILED_MS_MAX = 60_000

const UNASKED = { state: 'unasked', text: '', askedMs: 0, retryMs: 0, failures: 0 } as const

/** Chosen witnesses, with the earlier run's state of each. Keys of one name at one address are one witness. */
function peersOf({ witnesses }: FeedChoice, earlier: Witnessed | null): readonly Peer[] {
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

/** Whether to ask a witness about a tree at a time of the monotonic clock. */
function mayBeAsked(peer: Peer, { text }: FedTree, monotonicMs: number, { idleMs }: FeedPace): boolean {
  return monotonicMs >= peer.retryMs && (peer.text !== text || monotonicMs - peer.askedMs >= idleMs)
}

/** Records that a witness has cosigned a tree. */
function noteCosigned(
  peer: Peer,
  { size, text }: FedTree,
  { atMs }: Extract<PeerOutcome, { is: 'cosigned' }>,
): void {
  Object.assign(peer, { size, text, state: 'cosigning', failures: 0, retryMs: 0, cosigned: { size, atMs } })
}

/** Records a refusal, and waits longer after each. Returns whether to report it. */
function noteRefused(
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

/** Whether a refusal says nothing about the log: the witness is unreachable, or asks for a pause. */
function isSilence(reason: WitnessRefusal): boolean {
  return reason === 'unreachable' || reason === 'limited' || reason === 'failed'
}

/** Cosignatures collected for the newest tree, and the newest tree with a quorum, which is stored in a file. */
type WitnessedNotes = Readonly<{
  newest(): WitnessedCheckpoint | null
  /**
   * Adds the cosignatures of a tree. Returns the checkpoint when a quorum vouches for a newer tree, or at a later time.
   */
  add(tree: FedTree, signatures: readonly NoteSignature[]): Promise<WitnessedCheckpoint | null>
  /** Writes the file, if it changes. Throws when it cannot be written. */
  keep(peers: readonly Peer[]): void
}>

/**
 * Reads the file of an earlier run, and opens the collection. Drops a quorum of witnesses that are no longer chosen,
 * and the file of another log. A log that continues a former one after a loss is new to its witnesses.
 */
async function openWitnessedNotes(
  dataDirectory: string,
  origin: string,
  { witnesses, quorum }: FeedChoice,
): Promise<WitnessedNotes & Readonly<{ earlier: Witnessed | null }>> {
  const keys = witnesses.map(({ key }) => key)
  const found = openWitnessedFile(dataDirectory)()
  const earlier = found?.newest?.note.startsWith(`${origin}\n`) === true ? found : null
  let newest = await stillWitnessed(earlier?.newest ?? null)
  let kept = ''
  let gathered: Readonly<{ size: number; text: string; lines: ReadonlyMap<string, NoteSignature> }> = {
    size: 0,
    text: '',
    lines: new Map(),
  }

  async function stillWitnessed(former: WitnessedCheckpoint | null): Promise<WitnessedCheckpoint | null> {
    const note = former === null ? null : parseNote(Buffer.from(former.note))
    if (former === null || note === null || !note.ok) return null
    return await vouchedCheckpoint(note.value, former.seq, { keys, quorum })
  }

  return {
    earlier,
    newest: () => newest,
    async add({ text, note, size }, signatures) {
      // A witness answered late, and others have cosigned a larger tree.
      if (size < gathered.size) return null
      const lines = new Map(gathered.text === text ? gathered.lines : [])
      for (const line of signatures) lines.set(`${line.name} ${line.keyId}`, line)
      gathered = { size, text, lines }
      const own = parseNote(Buffer.from(note))
      if (!own.ok) return null
      // In the order of the choice, so that the same cosignatures make the same note.
      const cosignatures = keys.flatMap(({ name, keyId }) => lines.get(`${name} ${keyId}`) ?? [])
      const whole = { text, signatures: [...own.value.signatures, ...cosignatures] }
      const vouched = await vouchedCheckpoint(whole, size, { keys, quorum })
      if (vouched === null || gathered.lines !== lines) return null
      newest = newerWitnessed(newest, vouched)
      return newest === vouched ? vouched : null
    },
    keep(peers) {
      const witnessed = { quorum, witnesses: peers.flatMap(rowsOf), newest }
      const text = JSON.stringify(witnessed)
      if (text === kept) return
      keepWitnessed(dataDirectory, witnessed)
      kept = text
    },
  }
}

function rowsOf({ keys, url, state, cosigned }: Peer): Witnessed['witnesses'] {
  const seq = cosigned.atMs === null ? null : seqOf(cosigned.size)
  return keys.map((key) => ({ vkey: formatVkey(key), url, state, seq, atMs: cosigned.atMs }))
}

/** Tree that witnesses are asked to cosign: its note, the signed text of the note, and proofs from earlier sizes. */
type FedTree = Readonly<{
  size: number
  text: string
  note: string
  /** Proof that the tree grew from that of a smaller or equal size; undefined for a size of 0 or above its own. */
  growth(from: number): readonly Uint8Array[] | undefined
}>

/** Witness at one address, with one or more keys of one name. */
type Peer = {
  readonly url: string
  readonly name: string
  readonly keys: readonly VerifierKey[]
  /** Size that the witness has cosigned last, as far as this node knows. */
  size: number
  state: ListedWitness['state']
  /** Size and time of its newest cosignature on this node; 0 and null before the first. */
  cosigned: Readonly<{ size: number; atMs: Ms | null }>
  /** Text of the checkpoint that it has cosigned last. */
  text: string
  /** Times of the last request and of the next one, by the monotonic clock. */
  askedMs: number
  retryMs: number
  failures: number
}

/** Outcome of asking a witness about a tree. */
type PeerOutcome =
  | Readonly<{ is: 'cosigned'; signatures: readonly NoteSignature[]; atMs: Ms; wentBack: boolean }>
  | Readonly<{ is: 'refused'; reason: WitnessRefusal; retryAfterMs: number }>

/** Asks a witness to cosign a tree. After a conflict, asks once more from the size that the witness names. */
async function askPeer(
  peer: Peer,
  tree: FedTree,
  now: () => Ms,
  post: (url: string, question: CheckpointRequest) => Promise<CheckpointAnswer>,
): Promise<PeerOutcome> {
  let oldSize = Math.min(peer.size, tree.size)
  let wentBack = false
  for (let attempt = 1; ; attempt += 1) {
    const proof = tree.growth(oldSize) ?? []
    const answer = await post(peer.url, { oldSize, proof, note: tree.note })
    if (answer.is === 'refused') return answer
    if (answer.is === 'lines') return await judgedLines(peer, tree, answer.lines, { now, wentBack })
    peer.size = answer.size
    if (answer.size > tree.size) return { is: 'refused', reason: 'ahead', retryAfterMs: 0 }
    // Two conflicts in a row: others feed the same witness now, or it contradicts itself.
    if (attempt === 2) return { is: 'refused', reason: 'failed', retryAfterMs: 0 }
    wentBack = answer.size < peer.cosigned.size
    oldSize = answer.size
  }
}

/** Verifies the lines of an answer. Lines of unknown keys are ignored. */
async function judgedLines(
  { keys }: Peer,
  { text }: FedTree,
  lines: string,
  { now, wentBack }: Readonly<{ now: () => Ms; wentBack: boolean }>,
): Promise<PeerOutcome> {
  const malformed = { is: 'refused', reason: 'malformed', retryAfterMs: 0 } as const
  const note = parseNote(Buffer.from(`${text}\n${lines}`))
  if (!note.ok || note.value.text !== text) return malformed
  const vouching = await openVouching(note.value, keys, NODE_SIGNATURES)
  const [voucher] = vouching.ok ? vouching.value.vouchers : []
  if (voucher === undefined) return malformed
  const atMs = voucher.timeSeconds * 1_000
  if (atMs > now() + AHEAD_SECONDS_MAX * SECOND_MS) return { is: 'refused', reason: 'clock', retryAfterMs: 0 }
  const isKnown = (line: NoteSignature): boolean =>
    keys.some(({ name, keyId }) => name === line.name && keyId === line.keyId)
  return { is: 'cosigned', signatures: note.value.signatures.filter(isKnown), atMs: msOf(atMs), wentBack }
}
