import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { parseEntries, tilesOf } from '../../../test/tlog/bundle.ts'
import { openReceipt } from '../../../test/tlog/open-receipt.ts'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { signingKeyOf, TEST_KEY, testSigner } from '../../../test/story/signing.ts'
import { grow, hasher, naiveRoot, verifyEd25519 } from '../../../test/tlog/example.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { openCheckpoint } from '../../tlog/checkpoint.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { parseReceipt } from '../../tlog/receipt.ts'
import { formatBundlePath, formatTilePath } from '../../tlog/tile.ts'
import { openAppender } from '../append.ts'
import { openReader } from '../open-reader.ts'
import { changeKeys } from './ready-log.ts'
import type { LogReader, TreeFiles } from '../store/reader.ts'
import { openSigner, verifierKeyOf } from './signer.ts'
import { createStore, openForWriting, storePath } from '../store/store.ts'

const ORIGIN = 'daybook.example/log'
const EVENTS = 700

type OpenLog = Readonly<{ directory: string; log: LogReader; close(): void }>

function openLog(events: number): OpenLog {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-tree-'))
  createStore(storePath(directory), { origin: ORIGIN, chain: 'opaque', simulated: false })
  const db = openForWriting(storePath(directory))
  const appender = openAppender(db, testSigner(db))
  if (events > 0) publish(appender, every(MINUTE_MS, events - 3, Date.UTC(2026, 7, 30)))
  if (events > 0) publish(appender, every(MINUTE_MS, 3, Date.UTC(2026, 8, 1)))
  const log = openReader(directory, null)
  const close = (): void => {
    log.close()
    db.close()
    rmSync(directory, { recursive: true })
  }
  return { directory, log, close }
}

const trusted = { origin: ORIGIN, keys: [verifierKeyOf(ORIGIN, TEST_KEY.publicKey)] }
const seqs = Array.from({ length: EVENTS }, (_, index) => seqOf(index + 1))

suite('the tree of a log', () => {
  let stage: OpenLog
  const ask = <T>(question: (tree: TreeFiles) => T): T => stage.log.snapshot(({ tree }) => question(tree))
  const entryOf = (seq: number): Uint8Array =>
    stage.log.snapshot(({ line, detailsLine }) => {
      const found = line(seqOf(seq)) ?? assert.fail()
      return formatEntry(Buffer.from(found).toString(), detailsLine(seqOf(seq)) ?? null)
    })
  before(() => {
    stage = openLog(EVENTS)
  })
  after(() => stage.close())

  test('has every tile of the events by its path', () => {
    const grown = grow(seqs.map((seq) => hasher.leaf(entryOf(seq))))
    const tiles = [...tilesOf(EVENTS)]
    assert.deepEqual(tiles.map(formatTilePath), [
      'tile/0/000',
      'tile/0/001',
      'tile/0/002.p/188',
      'tile/1/000.p/2',
    ])
    for (const tile of tiles) {
      const found = ask(({ tile: read }) => read(formatTilePath(tile))) ?? assert.fail()
      assert.ok(Buffer.from(found).equals(grown.read(tile)))
    }
  })

  test('has the entries under its leaves', () => {
    for (const tile of tilesOf(EVENTS)) {
      if (tile.level > 0) continue
      const bytes = ask(({ entries }) => entries(formatBundlePath(tile))) ?? assert.fail()
      const found = parseEntries(bytes, tile.width) ?? assert.fail()
      for (const [index, entry] of found.entries()) {
        assert.deepEqual(Buffer.from(entry), Buffer.from(entryOf(tile.index * 256 + index + 1)))
      }
    }
  })

  test('has a partial tile of every width up to the tree’s size, and none beyond', () => {
    const whole = ask(({ tile }) => tile('tile/0/002.p/188')) ?? assert.fail()
    for (const width of [1, 2, 187]) {
      const part = ask(({ tile }) => tile(`tile/0/002.p/${width}`)) ?? assert.fail()
      assert.deepEqual(Buffer.from(part), Buffer.from(whole.subarray(0, width * 32)))
    }
    const absent = [
      '0/002.p/189',
      '0/002',
      '0/003.p/1',
      '1/000.p/3',
      '1/000',
      '2/000.p/1',
      '0/000.p/0',
      '64/000',
    ]
    for (const path of absent) {
      assert.equal(
        ask(({ tile }) => tile(`tile/${path}`)),
        undefined,
        path,
      )
    }
    for (const path of ['002.p/189', '002', '003.p/1', '2', '']) {
      assert.equal(
        ask(({ entries }) => entries(`tile/entries/${path}`)),
        undefined,
        path,
      )
    }
  })

  test('is signed, and has a valid receipt of every event', async () => {
    const note = ask(({ checkpoint }) => checkpoint())
    const opened = await openCheckpoint(Buffer.from(note), trusted, verifyEd25519)
    assert.ok(opened.ok)
    assert.equal(opened.value.checkpoint.size, EVENTS)
    const leaves = seqs.map((seq) => hasher.leaf(entryOf(seq)))
    assert.deepEqual(Buffer.from(opened.value.checkpoint.root), Buffer.from(naiveRoot(leaves)))
    for (const seq of [1, 2, 255, 256, 257, 512, 513, 699, 700]) {
      const text = ask(({ receipt }) => receipt(seqOf(seq))) ?? assert.fail()
      assert.ok(text.endsWith(`\n\n${note}`))
      const receipt = parseReceipt(Buffer.from(text))
      assert.ok(receipt.ok)
      const proved = await openReceipt(
        hasher,
        receipt.value,
        leaves[seq - 1] ?? assert.fail(),
        trusted,
        verifyEd25519,
      )
      assert.ok(proved.ok)
      assert.equal(proved.value.index, seq - 1)
    }
    assert.equal(
      ask(({ receipt }) => receipt(seqOf(701))),
      undefined,
    )
  })

  test('lists its signing keys', () => {
    const [key, ...more] = stage.log.snapshot(({ keys }) => keys())
    assert.equal(more.length, 0)
    assert.deepEqual([key?.fromSize, key?.toSize, key?.statement], [0, null, null])
    assert.match(key?.vkey ?? '', /^daybook\.example\/log\+97d6dc36\+/)
  })
})

suite('the tree of a damaged log', () => {
  const damage = (sql: string, question: (tree: TreeFiles) => unknown): void => {
    const stage = openLog(EVENTS)
    try {
      const db = openForWriting(storePath(stage.directory))
      db.exec(sql)
      db.close()
      assert.throws(() => stage.log.snapshot(({ tree }) => question(tree)))
    } finally {
      stage.close()
    }
  }

  test('gives no entries that differ from what was published', () => {
    damage(`UPDATE events SET line = replace(line, 'usd', 'eur') WHERE seq = 300`, ({ entries }) =>
      entries('tile/entries/001'),
    )
  })

  test('gives no invalid receipt', () => {
    damage(`UPDATE tree_hashes SET hash = zeroblob(32) WHERE level = 1 AND n = 0`, ({ receipt }) =>
      receipt(seqOf(1)),
    )
    damage(`UPDATE events SET leaf = zeroblob(32) WHERE seq = 2`, ({ receipt }) => receipt(seqOf(1)))
  })

  test('gives no tile with a missing or malformed hash', () => {
    damage(`DELETE FROM tree_hashes WHERE level = 1 AND n = 0`, ({ tile }) => tile('tile/1/000.p/2'))
    damage(`UPDATE events SET leaf = zeroblob(31) WHERE seq = 2`, ({ tile }) => tile('tile/0/000'))
  })
})

suite('the tree of a log without events', () => {
  test('is signed, has no tile, and proves nothing', async () => {
    const stage = openLog(0)
    try {
      const { tree } = stage.log.snapshot((snapshot) => snapshot)
      const note = stage.log.snapshot(() => tree.checkpoint())
      assert.ok(note.startsWith(`${ORIGIN}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n`))
      assert.ok((await openCheckpoint(Buffer.from(note), trusted, verifyEd25519)).ok)
      assert.equal(tree.tile('tile/0/000.p/1'), undefined)
      assert.equal(tree.entries('tile/entries/000.p/1'), undefined)
      assert.equal(tree.receipt(seqOf(1)), undefined)
    } finally {
      stage.close()
    }
  })
})

suite('the checkpoint of a log whose key changes', () => {
  test('gets its other signatures while the store is open, without a new event', () => {
    const stage = openLog(5)
    try {
      const signatures = (): number =>
        stage.log
          .snapshot(({ tree }) => tree.checkpoint())
          .split('\n')
          .filter((line) => line.startsWith('— ')).length
      assert.equal(signatures(), 1)
      const db = openForWriting(storePath(stage.directory))
      changeKeys(db, { keys: [TEST_KEY, signingKeyOf('11'.repeat(32))], acceptNewKey: false })
      db.close()
      assert.equal(signatures(), 2)
    } finally {
      stage.close()
    }
  })

  test('has a signature of each signing key, and the list names the next key', async () => {
    const stage = openLog(5)
    try {
      const db = openForWriting(storePath(stage.directory))
      const next = signingKeyOf('11'.repeat(32))
      changeKeys(db, { keys: [TEST_KEY, next], acceptNewKey: false })
      publish(openAppender(db, openSigner(ORIGIN, [TEST_KEY, next])), [Date.UTC(2026, 8, 2)])
      db.close()
      const note = stage.log.snapshot(({ tree }) => tree.checkpoint())
      const keys = [verifierKeyOf(ORIGIN, TEST_KEY.publicKey), verifierKeyOf(ORIGIN, next.publicKey)]
      for (const key of keys) {
        const opened = await openCheckpoint(Buffer.from(note), { ...trusted, keys: [key] }, verifyEd25519)
        assert.ok(opened.ok)
        assert.equal(opened.value.checkpoint.size, 6)
      }
      assert.deepEqual(
        stage.log.snapshot((snapshot) => snapshot.keys()).map(({ fromSize, toSize }) => [fromSize, toSize]),
        [
          [0, null],
          [5, null],
        ],
      )
    } finally {
      stage.close()
    }
  })
})
