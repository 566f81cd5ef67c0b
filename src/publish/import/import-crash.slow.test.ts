import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { jsonl, openImportStage, opening, plays } from '../../../test/stage/import-stage.ts'
import { readHighWater } from '../../log/store/high-water.ts'
import { storePath } from '../../log/store/store.ts'

const CHILD = join(import.meta.dirname, '..', '..', '..', 'test', 'stage', 'import-child.ts')

/** Imports in a child process, which stops at a given point, and kills it there. */
async function killAt(
  stage: 'reading' | 'finishing',
  drafts: number,
  file: string,
  data: string,
): Promise<void> {
  const child = spawn(process.execPath, [CHILD, stage, String(drafts), file, data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    assert.equal(line, 'here')
    child.kill('SIGKILL')
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL')
}

suite('an import that is killed', () => {
  for (const [stage, drafts] of [
    ['reading', 1],
    ['reading', 9_000],
    ['finishing', 0],
  ] as const) {
    test(`while ${stage}, after ${drafts} drafts, does not change the log or prevent the next import`, async () => {
      await using on = await openImportStage()
      await on.begin(opening())
      const name = basename(storePath(on.data))
      const before = on.contents()
      const file = on.file('long.jsonl', jsonl(plays(12_000)))
      await killAt(stage, drafts, file, on.data)
      const left = on.contents()
      assert.equal(left[name], before[name])
      // The new store has no journal.
      assert.deepEqual(
        Object.keys(left).filter((each) => each.startsWith(`${name}.importing`)),
        [`${name}.importing`],
      )
      assert.equal(on.lines().length, 4)

      const outcome = await on.import([file])
      assert.ok(outcome.ok)
      assert.deepEqual([outcome.events, outcome.firstSeq], [12_000, 5])
      assert.deepEqual(Object.keys(on.contents()), [name, 'high-water', 'lock'])
      assert.equal(on.lines().length, 12_004)
    })
  }

  test('leaves no log when there was none', async () => {
    await using on = await openImportStage()
    const file = on.file('long.jsonl', jsonl([...opening(), ...plays(12_000)]))
    await killAt('reading', 2_000, file, on.data)
    assert.ok(!Object.keys(on.contents()).includes(basename(storePath(on.data))))
    const outcome = await on.import([file])
    assert.ok(outcome.ok)
    assert.equal(outcome.events, 12_004)
  })

  test('before its high-water mark is written is finished by the next import', async () => {
    await using on = await openImportStage()
    const file = on.file('opening.jsonl', jsonl(opening()))
    const first = await on.import([file])
    assert.ok(first.ok)
    const name = basename(storePath(on.data))
    const mark = join(on.data, 'high-water')
    const written = readHighWater(on.data)
    renameSync(mark, `${mark}.making`)
    const again = await on.import([file])
    assert.ok(again.ok)
    assert.equal(again.events, 0)
    assert.deepEqual(Object.keys(on.contents()), [name, 'high-water', 'lock'])
    assert.deepEqual(readHighWater(on.data), written)
  })
})
