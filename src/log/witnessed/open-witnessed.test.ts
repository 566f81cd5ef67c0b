import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { hasher } from '../../../test/tlog/example.ts'
import { MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { isConsistent, isIncluded } from '../../tlog/proof.ts'
import { parseReceipt } from '../../tlog/receipt.ts'
import { openAppender } from '../append.ts'
import { openReader } from '../open-reader.ts'
import type { LogReader, Witnessed } from '../store/reader.ts'
import { formatSealed } from '../store/sealed-json.ts'
import { createStore, openForWriting, storePath } from '../store/store.ts'
import { forgetWitnessed, keepWitnessed } from './witnessed-file.ts'

const ORIGIN = 'daybook.example/log'

suite('the witnessed checkpoint of a log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-witnessed-'))
  createStore(storePath(directory), { origin: ORIGIN, chain: 'opaque', simulated: false })
  const db = openForWriting(storePath(directory))
  const appender = openAppender(db, testSigner(db))
  let log: LogReader
  let note = ''
  const treeIn = (text: string) => {
    const read = readCheckpoint(Buffer.from(text))
    return read.ok ? read.value.checkpoint : assert.fail()
  }
  const witnessedOf = (changes: Partial<NonNullable<Witnessed['newest']>> = {}): Witnessed => ({
    quorum: 1,
    witnesses: [
      { vkey: 'some vkey', url: 'http://127.0.0.1:1', state: 'cosigning', seq: seqOf(300), atMs: msOf(7) },
    ],
    newest: { seq: seqOf(300), atMs: msOf(7), note, ...changes },
  })
  const read = (): Witnessed | null => log.snapshot(({ witnessed }) => witnessed())

  before(() => {
    publish(appender, every(MINUTE_MS, 300, Date.UTC(2026, 7, 30)))
    log = openReader(directory, null)
    note = log.snapshot(({ tree }) => tree.checkpoint())
    publish(appender, every(MINUTE_MS, 400, Date.UTC(2026, 8, 1)))
  })
  after(() => {
    log.close()
    db.close()
    rmSync(directory, { recursive: true })
  })

  test('is null without a file, and read again when the file is replaced', () => {
    assert.equal(read(), null)
    keepWitnessed(directory, witnessedOf())
    assert.deepEqual(read(), witnessedOf())
    keepWitnessed(directory, witnessedOf({ atMs: msOf(8) }))
    assert.deepEqual(read(), witnessedOf({ atMs: msOf(8) }))
    forgetWitnessed(directory)
    assert.equal(read(), null)
  })

  test('has receipts of its events, and no others', () => {
    const { newest } = witnessedOf()
    assert.ok(newest !== null)
    const { entry, text } = log.snapshot((snapshot) => ({
      entry: formatEntry(
        Buffer.from(snapshot.line(seqOf(123)) ?? assert.fail()).toString(),
        snapshot.detailsLine(seqOf(123)) ?? null,
      ),
      text: snapshot.tree.receipt(seqOf(123), newest) ?? assert.fail(),
    }))
    const receipt = parseReceipt(Buffer.from(text))
    assert.ok(receipt.ok && receipt.value.checkpoint === note)
    const claim = { leaf: hasher.leaf(entry), index: 122, ...treeIn(note) }
    assert.ok(isIncluded(hasher, claim, receipt.value.proof))
    assert.equal(
      log.snapshot(({ tree }) => tree.receipt(seqOf(301), newest)),
      undefined,
    )
  })

  test('is proved to be the beginning of the newest tree', () => {
    const { later, proof } = log.snapshot(({ tree }) => ({
      later: tree.checkpoint(),
      proof: tree.growth(300, 700),
    }))
    assert.ok(isConsistent(hasher, treeIn(note), treeIn(later), proof ?? assert.fail()))
    for (const [from, to] of [
      [0, 700],
      [701, 700],
      [300, 701],
    ] as const) {
      assert.equal(
        log.snapshot(({ tree }) => tree.growth(from, to)),
        undefined,
      )
    }
  })

  test('counts as none when it is newer than the head, of another log or of another tree', () => {
    const others = [
      { seq: seqOf(701) },
      { seq: seqOf(299) },
      { note: note.replace(ORIGIN, 'other.example/log') },
      { note: note.replace(/^300\n./m, '300\nZ') },
      { note: 'no note' },
    ]
    for (const changes of others) {
      keepWitnessed(directory, witnessedOf(changes))
      assert.deepEqual(read(), { ...witnessedOf(), newest: null }, JSON.stringify(changes))
    }
  })

  test('is null when the file is damaged, or is none that Daybook writes', () => {
    const { newest, ...without } = witnessedOf()
    const parts = ['seq', 'atMs', 'note'] as const
    const others = [
      null,
      1,
      [],
      without,
      { ...witnessedOf(), quorum: '1' },
      { ...witnessedOf(), witnesses: {} },
      ...['', 1, {}].map((wrong) => ({ ...without, newest: wrong })),
      ...parts.map((part) => ({ ...without, newest: { ...newest, [part]: undefined } })),
      ...parts.map((part) => ({ ...without, newest: { ...newest, [part]: null } })),
    ]
    const damaged = ['', '{', '[]', '{"quorum":1,"witnesses":[],"newest":{}}']
    for (const text of [...damaged, ...others.map(formatSealed)]) {
      writeFileSync(join(directory, 'witnessed.json'), text)
      assert.equal(read(), null, text)
    }
  })
})
