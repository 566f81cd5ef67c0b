import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  beginWith,
  listedKey,
  openWrittenLog,
  rowAfter,
  rowIn,
} from '../../../test/cluster/row/written-log.ts'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../../../test/story/signing.ts'
import { HASHER, openStoredTree } from '../../log/tree/stored-tree.ts'
import { type SigningKey, verifierKeyOf } from '../../log/tree/signer.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { appendLeaf, emptyFrontier, frontierAt, rootOf } from '../../tlog/frontier.ts'
import type { BeginRow, CommitRow, LogRow, RowBody } from './log-row.ts'
import { encodeRow } from './row-frame.ts'
import { openRowChain, type RowChain } from './row-chain.ts'
import { formatVkey } from '../../tlog/note.ts'

const NEW_KEY = signingKeyOf('22'.repeat(32))
const FOREIGN = 'no key of the log has signed it'

/** Commit of one event, whose root follows from the lines before. */
function commitOf(lines: readonly string[]): CommitRow {
  const tree = emptyFrontier()
  for (const line of lines) appendLeaf(HASHER, tree, HASHER.leaf(formatEntry(line, null)))
  const root = rootOf(HASHER, tree)
  const nothing = { details: [null], refs: [null], held: [], segments: [], moved: null } as const
  return { is: 'commit', first: lines.length, root, lines: lines.slice(-1), ...nothing }
}

const LINES = ['{"seq":1,"of":"a"}', '{"seq":2,"of":"b"}'] as const
const FIRST = commitOf(LINES.slice(0, 1))
const SECOND = commitOf(LINES)
const KEYS: RowBody = { is: 'keys', head: 1, keys: [listedKey(TEST_KEY, 0, 1), listedKey(NEW_KEY, 1)] }
const END: RowBody = { is: 'end', head: 2, root: SECOND.root, nonce: SECOND.root }

/** Rows of a log: begin, an event, a change of keys, an event under the new key, and its end. */
const ROWS: readonly Uint8Array[] = written([
  [beginWith(), TEST_KEY],
  [FIRST, TEST_KEY],
  [KEYS, TEST_KEY],
  [SECOND, NEW_KEY],
  [END, NEW_KEY],
])

function written(bodies: readonly (readonly [RowBody, SigningKey])[]): readonly Uint8Array[] {
  const rows: Uint8Array[] = []
  for (const [body, key] of bodies) rows.push(rowAfter(rows.at(-1), rows.length + 1, body, key))
  return rows
}

const openChain = (known: BeginRow | null = null): RowChain => openRowChain({ treeAt: () => null, known })

/** Adds rows from a place on. Returns the first fault; null without one. */
function faultIn(chain: RowChain, rows: readonly Uint8Array[], from = 1): string | null {
  for (const [index, bytes] of rows.entries()) {
    const { fault } = chain.add(from + index, bytes)
    if (fault !== null) return `place ${from + index}: ${fault}`
  }
  return null
}

/** The chain's fault when the row at a place has other content. */
function faultOfChange(place: number, change: Partial<LogRow>, key: SigningKey): string | null {
  const changed = encodeRow({ ...rowIn(ROWS[place - 1]), ...change } as LogRow, key)
  return faultIn(openChain(), ROWS.toSpliced(place - 1, 1, changed))
}

suite('a chain of rows', () => {
  test('goes on with each row, from the first to the end of the log', () => {
    const chain = openChain()
    assert.deepEqual(chain.end(), { logId: '', first: 0, place: 0, isEnded: false, head: 0, vkeys: null })
    const ends = ROWS.map((bytes, index) => {
      assert.equal(chain.add(index + 1, bytes).fault, null)
      const { first, place, isEnded, head, vkeys } = chain.end()
      return [first, place, isEnded, head, vkeys]
    })
    const [former, present] = [[listedKey(TEST_KEY).vkey], [listedKey(NEW_KEY).vkey]]
    assert.deepEqual(ends, [
      [1, 1, false, 0, former],
      [1, 2, false, 1, former],
      [1, 3, false, 1, present],
      [1, 4, false, 2, present],
      [1, 5, true, 2, present],
    ])
    assert.equal(chain.end().logId, beginWith().identity.id)
  })

  for (const [place, change, reason] of [
    [2, { prev: new Uint8Array(32) }, 'it does not follow the row at place 1 of this node'],
    [2, { place: 3 }, 'it was made for place 3'],
    [2, { logId: 'f'.repeat(32) }, 'it is of another log'],
    [2, { first: 7 }, 'it begins with seq 7 after seq 0'],
    [2, { root: new Uint8Array(32) }, 'its root is not that of its events'],
    [2, { lines: ['{"seq":1,"of":"c"}'] }, 'its root is not that of its events'],
    [2, { details: ['{"seq":1}'] }, 'its root is not that of its events'],
    [2, { lines: ['{"seq":2,"of":"a"}'] }, 'seq 1 is no event'],
    [2, { lines: [`{"seq":1,${'x'.repeat(65_536)}`] }, 'seq 1 is longer than an event can be'],
    [3, { head: 0 }, 'it changes the keys at seq 0 instead of 1'],
    [3, { head: 2 }, 'it changes the keys at seq 2 instead of 1'],
    [5, { head: 1 }, 'it names another log than the one at seq 2'],
    [5, { root: new Uint8Array(32) }, 'it names another log than the one at seq 2'],
  ] as const) {
    const { is } = rowIn(ROWS[place - 1])
    test(`finds a row '${is}' with another ${Object.keys(change).join(' and ')}: ${reason}`, () => {
      assert.equal(faultOfChange(place, change, place > 3 ? NEW_KEY : TEST_KEY), `place ${place}: ${reason}`)
    })
  }

  test('begins with a log, at place 1, and nowhere else', () => {
    const begin = beginWith()
    const of = (id: string, first: LogRow): string | null =>
      faultIn(openChain(), [
        encodeRow({ ...first, is: 'begin', identity: { ...begin.identity, id }, keys: begin.keys }, TEST_KEY),
      ])
    assert.equal(of(begin.identity.id, rowIn(ROWS[0])), null)
    assert.equal(of('f'.repeat(32), rowIn(ROWS[0])), 'place 1: it is of another log')
    assert.match(String(of(begin.identity.id, { ...rowIn(ROWS[0]), prev: FIRST.root })), /it does not follow/)
    assert.match(
      String(faultIn(openChain(), [rowAfter(undefined, 1, FIRST)])),
      /only the first row begins a log/,
    )
    const again = rowAfter(ROWS[1], 3, begin)
    assert.match(
      String(faultIn(openChain(), [...ROWS.slice(0, 2), again])),
      /only the first row begins a log/,
    )
    assert.match(String(faultIn(openChain(), [again], 3)), /place 1 is missing/)
  })

  test('is signed by a key of the log, and its change by a key of before', () => {
    assert.equal(faultOfChange(1, {}, OTHER_KEY), `place 1: ${FOREIGN}`)
    assert.equal(faultOfChange(2, {}, NEW_KEY), `place 2: ${FOREIGN}`)
    assert.equal(faultOfChange(3, {}, NEW_KEY), `place 3: ${FOREIGN}`)
    assert.equal(faultOfChange(4, {}, TEST_KEY), `place 4: ${FOREIGN}`)
    const both = written([
      [beginWith([listedKey(TEST_KEY), listedKey(OTHER_KEY)]), OTHER_KEY],
      [FIRST, TEST_KEY],
    ])
    assert.equal(faultIn(openChain(), both), null)
    const elsewhere = formatVkey(verifierKeyOf('daybook.test/else', OTHER_KEY.publicKey))
    const ofOtherOrigin = { ...listedKey(OTHER_KEY), vkey: elsewhere }
    const foreign = written([[beginWith([listedKey(TEST_KEY), ofOtherOrigin]), OTHER_KEY]])
    assert.equal(faultIn(openChain(), foreign), `place 1: ${FOREIGN}`)
  })

  test('has nothing after its end, no gap, and no bytes that are no row', () => {
    const after = rowAfter(ROWS[4], 6, { ...KEYS, head: 2 }, NEW_KEY)
    assert.equal(
      faultIn(openChain(), [...ROWS, after]),
      'place 6: it follows the row that took the log off the table',
    )
    const chain = openChain()
    assert.equal(faultIn(chain, ROWS.slice(0, 1)), null)
    assert.equal(faultIn(chain, ROWS.slice(2), 3), 'place 3: it is at place 3, and place 2 is missing')
    assert.equal(faultIn(openChain(), [new Uint8Array(0)]), 'place 1: it is cut')
  })
})

suite('a chain of rows whose oldest ones were deleted', () => {
  const later = { ...beginWith(), keys: [listedKey(TEST_KEY, 0, 1), listedKey(NEW_KEY, 1)] }

  test('begins at any place, and verifies signatures when the keys of the log are known', () => {
    for (const from of [2, 3, 4, 5]) {
      const rows = ROWS.slice(from - 1)
      for (const known of [null, later]) {
        const chain = openChain(known)
        assert.equal(faultIn(chain, rows, from), null, `from ${from}`)
        assert.deepEqual([chain.end().first, chain.end().head, chain.end().isEnded], [from, 2, true])
        assert.equal(chain.end().vkeys === null, known === null)
      }
    }
    const forged = encodeRow(rowIn(ROWS[3]), OTHER_KEY)
    assert.equal(faultIn(openChain(), [forged], 4), null, 'nobody knows the keys')
    assert.equal(faultIn(openChain(later), [forged], 4), `place 4: ${FOREIGN}`)
    const retired = encodeRow(
      { ...rowIn(ROWS[4]), is: 'end', head: 2, root: SECOND.root, nonce: SECOND.root },
      TEST_KEY,
    )
    assert.equal(faultIn(openChain(later), [retired], 5), `place 5: ${FOREIGN}`)
  })

  test('has the roots of a tree that is known, and else those of its commits', () => {
    using log = openWrittenLog(['a', 'b', 'c'])
    const treeAt = (size: number): ReturnType<typeof frontierAt> =>
      frontierAt(HASHER, size, openStoredTree(log.db).tile)
    const [, , , fourth = new Uint8Array(0)] = log.rows
    const wrong = encodeRow({ ...rowIn(fourth), root: new Uint8Array(32) } as LogRow, TEST_KEY)
    for (const [bytes, fault] of [
      [fourth, null],
      [wrong, 'place 4: its root is not that of its events'],
    ] as const) {
      assert.equal(faultIn(openRowChain({ treeAt, known: null }), [bytes], 4), fault)
      assert.equal(faultIn(openChain(), [bytes], 4), null, 'nobody knows the tree')
    }
    const end = rowAfter(fourth, 5, {
      is: 'end',
      head: 3,
      root: new Uint8Array(32),
      nonce: new Uint8Array(32),
    })
    for (const chain of [openChain(), openRowChain({ treeAt, known: null })])
      assert.match(String(faultIn(chain, [fourth, end], 4)), /place 5: it names another log/)
    assert.match(String(faultIn(openRowChain({ treeAt, known: null }), [end], 5)), /it names another log/)
  })
})
