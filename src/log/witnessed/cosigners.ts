import { assert } from '../../protocol/brand.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import type { WitnessedCheckpoint } from '../store/reader.ts'

/** Names of the signatures on a witnessed checkpoint beside the log's own, once each. They are not verified. */
export function cosignersOf({ note }: WitnessedCheckpoint): readonly string[] {
  const read = readCheckpoint(Buffer.from(note))
  assert(read.ok, 'a witnessed checkpoint is a note')
  const { checkpoint, note: opened } = read.value
  const names = new Set(opened.signatures.map(({ name }) => name))
  return [...names].filter((name) => name !== checkpoint.origin)
}
