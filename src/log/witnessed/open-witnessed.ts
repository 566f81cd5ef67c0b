import type { DatabaseSync } from 'node:sqlite'
import type { Seq } from '../../protocol/seq.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import type { Witnessed, WitnessedCheckpoint } from '../store/reader.ts'
import { readIdentity } from '../store/store.ts'
import { openStoredTree } from '../tree/stored-tree.ts'
import { openWitnessedFile } from './witnessed-file.ts'
import { assert } from '../../protocol/brand.ts'

/**
 * Opens the cosignatures on a log's checkpoints as of a head; null without witnesses. Ignores a witnessed checkpoint
 * that is newer than the head, of another log or of another tree. Then the store is an older copy.
 */
export function openWitnessed(db: DatabaseSync, dataDirectory: string): (head: Seq) => Witnessed | null {
  const { origin } = readIdentity(db)
  const tree = openStoredTree(db)
  const read = openWitnessedFile(dataDirectory)
  let compared: Readonly<{ newest: WitnessedCheckpoint; isOwn: boolean }> | null = null

  function isOwn(newest: WitnessedCheckpoint): boolean {
    if (compared?.newest !== newest) compared = { newest, isOwn: isStored(newest) }
    return compared.isOwn
  }

  function isStored({ note, seq }: WitnessedCheckpoint): boolean {
    const opened = readCheckpoint(Buffer.from(note))
    if (!opened.ok) return false
    const { checkpoint } = opened.value
    const isNamed = checkpoint.origin === origin && checkpoint.size === seq
    return isNamed && isSame(tree.at(seq).root, checkpoint.root)
  }

  return (head) => {
    const witnessed = read()
    if (witnessed === null || witnessed.newest === null) return witnessed
    const { newest } = witnessed
    return newest.seq <= head && isOwn(newest) ? witnessed : { ...witnessed, newest: null }
  }
}

/** Names of the other signatures on a witnessed checkpoint, each once. They are not verified. */
export function cosignersOf({ note }: WitnessedCheckpoint): readonly string[] {
  const read = readCheckpoint(Buffer.from(note))
  assert(read.ok, 'a witnessed checkpoint is a note')
  const { checkpoint, note: opened } = read.value
  const names = new Set(opened.signatures.map(({ name }) => name))
  return [...names].filter((name) => name !== checkpoint.origin)
}
