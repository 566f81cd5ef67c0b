import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { formatEntries, formatEntry } from '../../tlog/entries.ts'
import { isSame } from '../../tlog/hash.ts'
import { consistencyProof, inclusionProof, isIncluded, type Tree } from '../../tlog/proof.ts'
import { formatReceipt } from '../../tlog/receipt.ts'
import {
  type Bundle,
  isBundleOf,
  isTileOf,
  parseBundlePath,
  parseTilePath,
  TILE_WIDTH,
} from '../../tlog/tile.ts'
import { bytes, number, type Row, text } from '../store/codec.ts'
import { openSignatures } from './ready-log.ts'
import type { TreeFiles } from '../store/reader.ts'
import { noteOf } from './signer.ts'
import { readIdentity } from '../store/store.ts'
import { HASHER, openStoredTree } from './stored-tree.ts'

/** Tree with its signed note. A change of keys signs the same tree again. */
type SignedNote = Readonly<{ tree: Tree; signature: Uint8Array; note: string }>

/**
 * Opens the tree of a store for one reading thread. The returned function opens the tree of the first `size` events.
 */
export function openTreeReader(db: DatabaseSync): (size: number) => TreeFiles {
  const { origin } = readIdentity(db)
  const stored = openStoredTree(db)
  const signatureOf = openSignatures(db)
  const leaf = db.prepare('SELECT leaf FROM events WHERE seq = ?')
  const entries = db.prepare(
    `SELECT e.seq AS seq, e.line AS line, e.leaf AS leaf, d.line AS details
     FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq > ? AND e.seq <= ? ORDER BY e.seq`,
  )
  let newest: SignedNote | null = null

  function signedAt(size: number): SignedNote {
    const signature = signatureOf(size)
    if (newest?.tree.size !== size || !isSame(newest.signature, signature)) {
      const tree = newest?.tree.size === size ? newest.tree : stored.at(size)
      newest = { tree, signature, note: noteOf(origin, tree, signature) }
    }
    return newest
  }

  function bundle({ index, width }: Bundle): Uint8Array {
    const first = index * TILE_WIDTH
    const rows = entries.all(first, first + width)
    assert(rows.length === width, `the store has ${width} events after seq ${first}`)
    return formatEntries(rows.map(entryOf))
  }

  function receipt(index: number, { tree, note }: Pick<SignedNote, 'tree' | 'note'>): string {
    const { size } = tree
    const proof = inclusionProof(HASHER, index, size, stored.tile)
    const row = leaf.get(index + 1)
    // An invalid proof would look like a forged log. Here it means a damaged store, so no proof is returned.
    const holds =
      proof !== undefined &&
      row !== undefined &&
      isIncluded(HASHER, { leaf: bytes(row, 'leaf'), index, ...tree }, proof)
    assert(holds, `the stored tree proves seq ${index + 1}`)
    return formatReceipt({ index, proof, checkpoint: note, extra: null })
  }

  return (size) => ({
    checkpoint: () => signedAt(size).note,
    tile(path) {
      const tile = parseTilePath(path)
      return tile !== undefined && isTileOf(size, tile) ? stored.tile(tile) : undefined
    },
    entries(path) {
      const place = parseBundlePath(path)
      return place !== undefined && isBundleOf(size, place) ? bundle(place) : undefined
    },
    receipt(seq, witnessed) {
      if (seq < 1 || seq > (witnessed?.seq ?? size)) return undefined
      if (witnessed === undefined) return receipt(seq - 1, signedAt(size))
      return receipt(seq - 1, { tree: stored.at(witnessed.seq), note: witnessed.note })
    },
    growth: (from, to) => (to > size ? undefined : consistencyProof(HASHER, from, to, stored.tile)),
  })
}

/** Entry of an event. Compared with its leaf at each read, because caches keep it forever. */
function entryOf(row: Row): Uint8Array {
  const details = row['details'] === null ? null : text(row, 'details')
  const entry = formatEntry(text(row, 'line'), details)
  assert(isSame(HASHER.leaf(entry), bytes(row, 'leaf')), `seq ${number(row, 'seq')} is what its leaf says`)
  return entry
}
