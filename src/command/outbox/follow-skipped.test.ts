import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { msOf } from '../../protocol/moment.ts'
import { refuseSkipped } from './follow-skipped.ts'

const OLD_S = 1_700_000_000

/** Seconds since the last write of the present file, at which the files are looked at. */
const LATER_S = 120

/** Whether a file is reported in a folder with the old and the present one; `later` while that cannot be told. */
function skipped(name: string, writtenS: number, text = '{}\n'): boolean | 'later' {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-skipped-'))
  const put = (file: string, seconds: number, content: string): string => {
    const path = join(folder, file)
    writeFileSync(path, content)
    utimesSync(path, seconds, seconds)
    return path
  }
  const [old, present] = [put('old', OLD_S, '{}\n'), put('drafts.jsonl', OLD_S + 60, '{}\n')]
  const files = [old, present].map((path) => openSync(path, 'r'))
  const other = put(name, writtenS, text)
  try {
    const cursor = join(folder, 'drafts.jsonl.cursor')
    const now = msOf((OLD_S + 60 + LATER_S) * 1_000)
    const settings = { path: present, old: files[0] ?? 0, present: files[1] ?? 0, cursor, now }
    return refuseSkipped(settings) ? false : 'later'
  } catch (error) {
    assert.ok(error instanceof Error && error.message.includes(other), String(error))
    return true
  } finally {
    for (const file of files) closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

suite('a file between two followed ones', () => {
  test('has a name of a rotation, and was written after the older one', () => {
    for (const name of [
      'drafts.jsonl.1',
      'drafts.jsonl.2.gz',
      'drafts.jsonl-20261127',
      'drafts.jsonl.old',
      'drafts-2026-11-27T18.jsonl',
      'drafts.1.jsonl',
    ]) {
      assert.equal(skipped(name, OLD_S + 30), true, name)
    }
  })

  test('may be written by a program that noticed its new name late', () => {
    assert.equal(skipped('drafts.jsonl.1', OLD_S + 90), true)
  })

  test('may be a compressed copy in the making while it was written less than ten seconds ago', () => {
    const now = OLD_S + 60 + LATER_S
    assert.equal(skipped('drafts.jsonl.1.gz', now - 1), 'later')
    assert.equal(skipped('drafts.jsonl.1.gz', now - 9), 'later')
    assert.equal(skipped('drafts.jsonl.1.gz', now - 10), true)
    assert.equal(skipped('drafts.jsonl.1.gz', now + 60), true)
  })

  test('is none that was written before, a compressed copy of the older one, or empty', () => {
    assert.equal(skipped('drafts.jsonl.2', OLD_S - 30), false)
    assert.equal(skipped('drafts.jsonl.2.gz', OLD_S), false)
    assert.equal(skipped('drafts.jsonl.lock', OLD_S + 30, ''), false)
  })

  test('is neither the cursor file nor a file of another name', () => {
    for (const name of [
      'drafts.jsonl.cursor',
      'drafts.jsonl.cursor.next',
      'drafts-payouts.jsonl',
      'draft.jsonl.1',
      'other.jsonl.1',
      'drafts2.jsonl',
      'drafts.jsonlines',
    ]) {
      assert.equal(skipped(name, OLD_S + 30), false, name)
    }
  })
})
