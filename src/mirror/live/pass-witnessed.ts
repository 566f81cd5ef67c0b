import { DaybookError } from '../../client/daybook-error.ts'
import type { Witnessed, WitnessedCheckpoint } from '../../log/store/reader.ts'
import { newerWitnessed, vouchedCheckpoint } from '../../log/witnessed/vouched-checkpoint.ts'
import { forgetWitnessed, keepWitnessed, openWitnessedFile } from '../../log/witnessed/witnessed-file.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import { NOTE_BYTES_MAX, parseNote } from '../../tlog/note.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { WITNESSED_PATH } from '../../verify/witnesses.ts'
import type { Origin } from '../origin/open-origin.ts'
import { type OriginWitnesses, readOriginWitnesses } from '../origin/origin-witnesses.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import { provenTree } from '../proof/proven-tree.ts'
import { placeOfTree } from './judge-tree.ts'
import type { MirrorStore } from './mirror-store.ts'

/** Passes on what the witnesses of the log vouch for. */
type PassWitnessed = Readonly<{
  /**
   * Asks the origin for its witnesses and their newest checkpoint, and keeps both. What is not well formed, not proved, or
   * newer than the mirror is not kept: it is asked for again later. Throws a `ContradictionError` when the log has signed
   * another tree than the mirror has, an `AnotherLogError`, and errors of the disk.
   */
  ask(keys: OriginKeys): Promise<void>
}>

type PassParts = Readonly<{ origin: Origin; store: MirrorStore; signal: AbortSignal }>

/** Opens the passing on of witnessed checkpoints into the directory of the mirror. Sends no request by itself. */
export function openPassWitnessed({ origin, store, signal }: PassParts): PassWitnessed {
  const { dataDirectory } = store
  let kept = openWitnessedFile(dataDirectory)()

  function keep(witnessed: Witnessed | null): void {
    if (JSON.stringify(witnessed) === JSON.stringify(kept)) return
    if (witnessed === null) forgetWitnessed(dataDirectory)
    else keepWitnessed(dataDirectory, witnessed)
    kept = witnessed
  }

  /** The checkpoint in a note, if the mirror has its tree. */
  async function covered(body: Uint8Array, keys: OriginKeys): Promise<number | null> {
    const tree = await provenTree(WITNESSED_PATH, body, keys)
    const place = placeOfTree(store.book, store.checkpoint(), tree, body)
    return place === 'ahead' || tree.size === 0 ? null : tree.size
  }

  async function served(keys: OriginKeys, witnesses: OriginWitnesses): Promise<WitnessedCheckpoint | null> {
    const body = await origin.read(WITNESSED_PATH, { bytesMax: NOTE_BYTES_MAX, attemptsMax: 1 }, signal)
    if (body === undefined) return null
    const size = await covered(body, keys)
    const note = parseNote(body)
    return size === null || !note.ok ? null : await vouchedCheckpoint(note.value, size, witnesses)
  }

  /** The kept checkpoint, if it is of the mirror's tree and the listed witnesses still are a quorum on it. */
  async function still(witnesses: OriginWitnesses): Promise<WitnessedCheckpoint | null> {
    const read = readCheckpoint(Buffer.from(kept?.newest?.note ?? ''))
    if (!read.ok) return null
    const { checkpoint, note } = read.value
    const { origin: name, size, root } = checkpoint
    const isOwn = name === store.identity.origin && size <= store.book.head().seq
    if (!isOwn || !isSame(store.book.treeAt(size).root, root)) return null
    return await vouchedCheckpoint(note, size, witnesses)
  }

  return {
    async ask(keys) {
      const witnesses = await unlessUnusable(readOriginWitnesses(origin, signal), signal)
      if (witnesses === undefined) return
      if (witnesses === null) return keep(null)
      const found = (await unlessUnusable(served(keys, witnesses), signal)) ?? null
      const { quorum, witnesses: rows } = witnesses
      keep({ quorum, witnesses: rows, newest: newerWitnessed(await still(witnesses), found) })
    },
  }
}

/** Result of a question; undefined when the answer is no usable one, which the questions for checkpoints report too. */
async function unlessUnusable<T>(asked: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof WrongError || error instanceof DaybookError) return undefined
    throw error
  }
}
