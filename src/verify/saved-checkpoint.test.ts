import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NODE_PRIMITIVES } from '../command/terminal/node-primitives.ts'
import { type Hash, isSame, treeHasher } from '../tlog/hash.ts'
import { openReplayTree } from './replay/replay-tree.ts'
import { type History, historyOf } from './saved-checkpoint.ts'
import { formatBase64, parseBase64 } from '../tlog/note.ts'
import { isConsistent } from '../tlog/proof.ts'

const hasher = treeHasher(NODE_PRIMITIVES.sha256)
const SIZE = 9
const SIZES = Array.from({ length: SIZE + 1 }, (_, size) => size)
const tree = openReplayTree(hasher, SIZES)
for (let index = 0; index < SIZE; index += 1) tree.add(Buffer.from(`entry ${index}`))
const OTHER: Hash = new Uint8Array(32).fill(7)

const checkpoint = (size: number, root: Hash) => ({ origin: 'a log', size, root, extensions: [] })
const served = { checkpoint: checkpoint(SIZE, tree.rootAt(SIZE) ?? OTHER), note: Buffer.from('served') }

const history = (size: number, root: Hash | undefined = tree.rootAt(size)): History =>
  historyOf(
    { name: 'saved', note: Buffer.from('saved'), checkpoint: checkpoint(size, root ?? OTHER) },
    served,
    tree,
  )

/** Lines of the evidence, and its files. */
const evidenceOf = ({ evidence }: History): readonly string[] =>
  Buffer.from(evidence?.files['evidence.txt'] ?? [])
    .toString()
    .split('\n')
    .slice(0, -1)

suite('the history of a log', () => {
  test('is consistent with each checkpoint of its past', () => {
    for (const size of SIZES)
      assert.deepEqual(history(size), { is: 'consistent', finding: null, evidence: null }, `size ${size}`)
  })

  test('is a rollback when the checkpoint covers more events', () => {
    const found = history(SIZE + 1, OTHER)
    assert.equal(found.is, 'rollback')
    assert.deepEqual(found.finding, {
      place: 'saved',
      what: `ROLLBACK: it covers ${SIZE + 1} events, and the log now has ${SIZE}`,
    })
    assert.deepEqual(evidenceOf(found), [
      `The log signed ${SIZE + 1} events and now has ${SIZE}: it was shortened, or an old copy of it is served.`,
    ])
  })

  test('is a fork of two notes alone when the checkpoint has its size and another root', () => {
    const found = history(SIZE, OTHER)
    assert.equal(found.is, 'fork')
    assert.deepEqual(evidenceOf(found), [
      `The log signed both checkpoints, one for ${SIZE} events and one for ${SIZE}, and they contradict each other.`,
      'They have the same size and different roots: the two notes are the whole proof. The served root:',
      formatBase64(served.checkpoint.root),
    ])
    assert.deepEqual(Object.keys(found.evidence?.files ?? {}), [
      'saved.checkpoint',
      'served.checkpoint',
      'evidence.txt',
    ])
  })

  test('is a fork without a proof when the checkpoint is of no events and has another root', () => {
    const lines = evidenceOf(history(0, OTHER))
    assert.deepEqual(lines.slice(3), [formatBase64(hasher.empty)])
  })

  test('is a fork with a proof when the checkpoint is smaller and has another root', () => {
    for (const size of SIZES.slice(1, -1)) {
      const [signed, explained, proved, root = '', ...proof] = evidenceOf(history(size, OTHER))
      assert.match(signed ?? '', /^The log signed both checkpoints/)
      assert.match(explained ?? '', new RegExp(`^The first hash below is the root over the first ${size} `))
      assert.match(proved ?? '', /^The others are the consistency proof/)
      const earlier = { size, root: parseBase64(root) ?? OTHER }
      assert.ok(isSame(earlier.root, tree.rootAt(size) ?? OTHER))
      const hashes = proof.map((line) => parseBase64(line) ?? OTHER)
      assert.ok(isConsistent(hasher, earlier, served.checkpoint, hashes), `size ${size}`)
    }
  })
})
