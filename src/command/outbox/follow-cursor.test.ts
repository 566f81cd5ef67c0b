import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { CommandError } from '../terminal/world.ts'
import type { FilePlace } from './follow-cursor.ts'
import { fileIdentityOf, markOf, openAtPlace, readPlace, savePlace } from './follow-cursor.ts'

const LINES = ['{"ref":"a"}\n', '{"ref":"b"}\n', '{"ref":"c"}\n']
const OFFSET = LINES.slice(0, 2).join('').length

/** A file of three lines, and the place after the second. */
function openLines(): Disposable & Readonly<{ path: string; place: FilePlace }> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-cursor-'))
  const path = join(folder, 'drafts.jsonl')
  writeFileSync(path, LINES.join(''))
  const file = openSync(path, 'r')
  const mark = markOf(file, OFFSET)
  closeSync(file)
  const place = { ...fileIdentityOf(statSync(path, { bigint: true })), offset: OFFSET, line: 2, mark }
  return { path, place, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

function placeIn(path: string, place: FilePlace): Readonly<{ offset: number; line: number }> {
  const { file, offset, line } = openAtPlace(path, place)
  closeSync(file)
  return { offset, line }
}

suite('the place of a cursor', () => {
  test('is found in its file, also under another name, and at the beginning of a file that was cut', () => {
    using lines = openLines()
    const { path, place } = lines
    assert.deepEqual(placeIn(path, place), { offset: OFFSET, line: 2 })
    const older = `${path}.1`
    renameSync(path, older)
    assert.deepEqual(placeIn(path, place), { offset: OFFSET, line: 2 })
    writeFileSync(older, '{"ref":"x"}\n')
    assert.deepEqual(placeIn(path, place), { offset: 0, line: 0 })
  })

  test('is not in a file that has got the inode of the one that is gone', () => {
    using lines = openLines()
    const { path, place } = lines
    const gone = { ...place, born: '1' }
    assert.throws(() => openAtPlace(path, gone), CommandError)
    writeFileSync(path, '{"ref":"x"}\n')
    assert.throws(() => openAtPlace(path, gone), CommandError)
  })

  test('is read as it was written, and with less in it as an older Daybook wrote it', () => {
    using lines = openLines()
    const { path, place } = lines
    const cursor = `${path}.cursor`
    const saved = { ...place, log: 'one-log' }
    savePlace(cursor, saved)
    assert.deepEqual(readPlace(cursor), saved)
    const { born: _born, ...old } = place
    writeFileSync(cursor, JSON.stringify({ ...old, inode: Number(old.inode) }))
    const read = readPlace(cursor)
    assert.deepEqual(read, { ...old, born: null, log: null })
    assert.deepEqual(placeIn(path, read ?? place), { offset: OFFSET, line: 2 })
  })

  test('is read as it was written when a number cannot hold the inode', () => {
    using lines = openLines()
    const cursor = `${lines.path}.cursor`
    const identity = fileIdentityOf({ ino: 2n ** 60n + 1n, birthtimeNs: 1n })
    const saved = { ...lines.place, ...identity, log: null }
    savePlace(cursor, saved)
    assert.deepEqual(readPlace(cursor), saved)
  })
})
