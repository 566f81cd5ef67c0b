import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import {
  forkedLogs,
  type KeptBranches,
  openEvidence,
  readEvidence,
} from '../../../src/cluster/log/evidence-folder.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'

const data = mkdtempSync(join(tmpdir(), 'daybook-evidence-'))
after(() => rmSync(data, { recursive: true }))
const [ONE, OTHER] = ['1'.repeat(32), '2'.repeat(32)] as const

const branch = (...texts: readonly string[]): readonly TableRow[] =>
  texts.map((text, index) => ({ place: index + 2, bytes: Buffer.from(text) }))
const kept = (id: string): Readonly<Record<keyof KeptBranches, readonly string[]>> => {
  const { ours, table } = readEvidence(data, id)
  const texts = (rows: readonly Uint8Array[]): readonly string[] =>
    rows.map((bytes) => String(Buffer.from(bytes)))
  return { ours: texts(ours), table: texts(table) }
}
const times = (): readonly number[] =>
  readdirSync(join(data, 'evidence')).map((name) => statSync(join(data, 'evidence', name)).mtimeMs)

suite('the evidence of a fork', () => {
  test('is none without a fork', () => {
    assert.deepEqual(forkedLogs(data), [])
    assert.deepEqual(kept(ONE), { ours: [], table: [] })
  })

  test('is one file a branch, which no restart writes again', () => {
    openEvidence(data, ONE).keep({ ours: branch('a2', 'a3'), table: branch('b2') })
    assert.deepEqual(kept(ONE), { ours: ['a2', 'a3'], table: ['b2'] })
    const before = times()
    openEvidence(data, ONE).keep({ ours: branch('a2', 'a3'), table: branch('b2') })
    openEvidence(data, ONE).keep({ ours: branch('a2'), table: branch('b2') })
    assert.deepEqual(times(), before)
  })

  test('has what the table showed later', () => {
    openEvidence(data, ONE).keep({ ours: branch('a2', 'a3'), table: branch('b2', 'b3') })
    assert.deepEqual(kept(ONE).table, ['b2', 'b3'])
  })

  test('is not replaced by a branch that is that of the table', () => {
    openEvidence(data, ONE).keep({ ours: branch('c2'), table: branch('c2', 'c3') })
    assert.deepEqual(kept(ONE), { ours: ['a2', 'a3'], table: ['b2', 'b3'] })
  })

  test('is replaced by another fork of its log, and not by one of another log', () => {
    openEvidence(data, OTHER).keep({ ours: branch('e2'), table: branch('f2') })
    openEvidence(data, ONE).keep({ ours: branch('c2'), table: branch('d2') })
    assert.deepEqual(kept(ONE), { ours: ['c2'], table: ['d2'] })
    assert.deepEqual(kept(OTHER), { ours: ['e2'], table: ['f2'] })
    assert.deepEqual(forkedLogs(data), [ONE, OTHER])
  })

  test('is read without what was cut off or added at the end of its file', () => {
    openEvidence(data, ONE).keep({ ours: branch('g2', 'g3'), table: branch('h2') })
    const path = join(data, 'evidence', `${ONE}-ours`)
    truncateSync(path, statSync(path).size - 1)
    assert.deepEqual(kept(ONE).ours, ['g2'])
    appendFileSync(path, 'more')
    assert.equal(kept(ONE).ours[0], 'g2')
  })
})
