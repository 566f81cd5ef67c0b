import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { storePath } from '../../src/log/store/store.ts'
import { change, runCheck, copyLog, makeLog, openFolder, refusalAtStart } from '../story/damaged-log.ts'
import { DAMAGES, ENDS } from '../story/damages.ts'

suite('a stored log that was changed', () => {
  const folders = [openFolder(), openFolder()] as const
  const [whole, copy] = folders
  test.before(() => makeLog(whole.data, ENDS))
  test.after(() => folders.forEach((folder) => folder[Symbol.dispose]()))

  test('is accepted when it is unchanged', async () => {
    copyLog(whole.data, copy.data)
    assert.equal(refusalAtStart(copy.data), undefined)
    const { code, said } = await runCheck(copy.data)
    assert.equal(code, 0, said)
    assert.match(said, /^700 events: every table agrees with the log, and the log with its signatures$/m)
  })

  for (const { name, damage, start, check } of DAMAGES) {
    test(`is refused with ${name}, and the first wrong seq is named`, async () => {
      rmSync(copy.data, { recursive: true, force: true })
      copyLog(whole.data, copy.data)
      change(copy.data, damage)
      const before = readFileSync(storePath(copy.data))
      const mark = readFileSync(join(copy.data, HIGH_WATER_FILE))
      const { code, said } = await runCheck(copy.data)
      assert.equal(code, 1, said)
      assert.match(said, new RegExp(`^seq ${check}: `, 'm'))
      const refusal = refusalAtStart(copy.data)
      if (start === null) return assert.equal(refusal, undefined)
      assert.match(refusal ?? '', new RegExp(`^seq ${start}: `))
      // Nothing was signed, and the mark is unchanged.
      assert.ok(readFileSync(storePath(copy.data)).equals(before))
      return assert.ok(readFileSync(join(copy.data, HIGH_WATER_FILE)).equals(mark))
    })
  }
})
