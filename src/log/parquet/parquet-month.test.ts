import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { type ArchiveNode, FOUR_MONTHS, openArchiveNode } from '../../../test/stage/archive-node.ts'
import { monthOf, msOf } from '../../protocol/moment.ts'
import { openForWriting, storePath } from '../store/store.ts'
import { parquetFolder } from './parquet-folder.ts'
import { openParquetMaker, ParquetRoomError } from './parquet-month.ts'

const SEPTEMBER = monthOf(msOf(Date.UTC(2026, 8, 1)))

suite('the maker of Parquet files', () => {
  let node: ArchiveNode
  let folder = ''
  before(async () => {
    node = await openArchiveNode(FOUR_MONTHS)
    folder = parquetFolder(node.directory)
  })
  after(() => node[Symbol.asyncDispose]())

  test('misses each closed month, the newest first, until it has made its file', () => {
    using maker = openParquetMaker(node.directory)
    assert.deepEqual(maker.missing(), ['2026-10', '2026-09', '2026-08'])
    const made = maker.make(SEPTEMBER)
    assert.deepEqual(maker.missing(), ['2026-10', '2026-08'])
    assert.deepEqual(maker.kept(SEPTEMBER, assert.fail), made)
    assert.deepEqual(maker.make(SEPTEMBER), made, 'the same bytes under the same name')
  })

  test('removes damaged files, unfinished ones, and those of other forms, and no other file', () => {
    using maker = openParquetMaker(node.directory)
    const { path } = maker.make(SEPTEMBER)
    const other = path.replace(/\.[0-9a-f]{16}\./, `.${'0'.repeat(16)}.`)
    for (const name of [other, join(folder, '2026-09.making'), join(folder, 'notes.txt')])
      writeFileSync(name, '')
    assert.ok(!maker.missing().includes(SEPTEMBER))
    assert.deepEqual(readdirSync(folder).toSorted(), [path.slice(folder.length + 1), 'notes.txt'])
    writeFileSync(path, readFileSync(path).subarray(1))
    const damaged: string[] = []
    assert.equal(
      maker.kept(SEPTEMBER, (file) => damaged.push(file)),
      undefined,
    )
    assert.deepEqual(damaged, [path])
    assert.ok(maker.missing().includes(SEPTEMBER))
  })

  test('leaves nothing where the disk has too little room', () => {
    using maker = openParquetMaker(node.directory, 2 ** 62)
    assert.throws(() => maker.make(SEPTEMBER), ParquetRoomError)
    assert.deepEqual(readdirSync(folder), ['notes.txt'])
  })

  test('makes no file of lines that are not those of the signed manifest', () => {
    const db = openForWriting(storePath(node.directory))
    db.exec(`UPDATE details SET line = replace(line, '0.012345678901', '0.012345678902') WHERE seq = 60`)
    db.close()
    using maker = openParquetMaker(node.directory)
    assert.throws(() => maker.make(SEPTEMBER), /not those of its manifest/)
    assert.deepEqual(readdirSync(folder), ['notes.txt'])
  })
})
