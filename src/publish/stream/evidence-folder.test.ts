import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import type { EngineMessage } from '../../engine/log-engine.ts'
import { EVIDENCE_FOLDER, openEvidence } from './evidence-folder.ts'

const data = mkdtempSync(join(tmpdir(), 'daybook-evidence-'))
const folder = join(data, EVIDENCE_FOLDER)
after(() => rmSync(data, { recursive: true }))

const branch = (...texts: readonly string[]): readonly EngineMessage[] =>
  texts.map((text, index) => ({ place: index + 2, bytes: Buffer.from(text) }))
const files = (): readonly (readonly [string, string, number])[] =>
  readdirSync(folder)
    .toSorted()
    .map((name) => {
      const path = join(folder, name)
      return [
        name,
        readFileSync(path, 'latin1').replaceAll(/[^a-z0-9]/g, ''),
        statSync(path).mtimeMs,
      ] as const
    })
const texts = (): readonly string[] => files().map(([name, text]) => `${name} ${text}`)

suite('the evidence of a fork', () => {
  test('is one file a branch, which no restart writes again', () => {
    openEvidence(data, 1).keep({ ours: branch('a2', 'a3'), engine: branch('b2') })
    assert.deepEqual(texts(), ['stream-1-engine b2', 'stream-1-ours a2a3'])
    const before = files()
    openEvidence(data, 1).keep({ ours: branch('a2', 'a3'), engine: branch('b2') })
    openEvidence(data, 1).keep({ ours: branch('a2'), engine: branch('b2') })
    assert.deepEqual(files(), before)
  })

  test('has what the engine showed later', () => {
    openEvidence(data, 1).keep({ ours: branch('a2', 'a3'), engine: branch('b2', 'b3') })
    assert.deepEqual(texts(), ['stream-1-engine b2b3', 'stream-1-ours a2a3'])
  })

  test('is not replaced by a branch that is that of the engine', () => {
    openEvidence(data, 1).keep({ ours: branch('c2'), engine: branch('c2', 'c3') })
    assert.deepEqual(texts(), ['stream-1-engine b2b3', 'stream-1-ours a2a3'])
  })

  test('is replaced by another fork of its stream, and not by one of the next stream', () => {
    openEvidence(data, 2).keep({ ours: branch('e2'), engine: branch('f2') })
    openEvidence(data, 1).keep({ ours: branch('c2'), engine: branch('d2') })
    const all = ['stream-1-engine d2', 'stream-1-ours c2', 'stream-2-engine f2', 'stream-2-ours e2']
    assert.deepEqual(texts(), all)
  })
})
