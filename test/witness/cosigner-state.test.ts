import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { type CosignerStage, openCosignerStage } from './cosigner-stage.ts'
import { sampleLog } from './sample-log.ts'

const log = sampleLog('log.example/a')
const fork = sampleLog('log.example/a', 100)

/** A closed witness that has cosigned size 5, with the path of its state and mark. */
async function openClosed(): Promise<CosignerStage & Readonly<{ state: string; mark: string }>> {
  const stage = openCosignerStage([log])
  await stage.add(log.submission(0, 5))
  stage.close()
  return { ...stage, state: join(stage.data, 'witness.db'), mark: join(stage.data, 'witness-mark') }
}

/** Copies a file over another one without a new inode, as some programs restore. */
function overwrite(from: string, to: string): void {
  writeFileSync(to, readFileSync(from), { flag: 'r+' })
}

suite('the state of a witness', () => {
  test('is refused as a copy, until the operator accepts it for one start', async () => {
    using stage = await openClosed()
    const { data } = stage
    renameSync(data, `${data}-old`)
    cpSync(`${data}-old`, data, { recursive: true })
    for (let tries = 0; tries < 2; tries += 1)
      assert.throws(() => stage.reopen(), /is a copy, or was restored/)
    stage.reopen({ acceptCopy: true })
    assert.equal((await stage.add(fork.submission(0, 6)))[1], '5\n')
    assert.throws(() => stage.reopen({ acceptCopy: true }), /nothing needs --accept-copy/)
    stage.reopen()
    assert.equal((await stage.add(log.submission(5, 6)))[0], 200)
    stage.close()
    // A state that was only renamed with its folder is the same file.
    renameSync(data, `${data}-moved`)
    renameSync(`${data}-moved`, data)
    stage.reopen()
  })

  test('is refused when an older one was put in its place, also with --accept-copy', async () => {
    using stage = await openClosed()
    const backup = join(dirname(stage.data), 'backup')
    copyFileSync(stage.state, backup)
    stage.reopen()
    await stage.add(log.submission(5, 9))
    stage.close()
    overwrite(backup, stage.state)
    for (const acceptCopy of [false, true]) {
      assert.throws(() => stage.reopen({ acceptCopy }), /older than the mark/)
    }
    rmSync(stage.state)
    copyFileSync(backup, stage.state)
    assert.throws(() => stage.reopen({ acceptCopy: true }), /older than the mark/)
  })

  test('is refused when the whole older folder was copied over it, file by file', async () => {
    using stage = await openClosed()
    const backup = `${stage.data}-backup`
    cpSync(stage.data, backup, { recursive: true })
    stage.reopen()
    await stage.add(log.submission(5, 9))
    stage.close()
    for (const name of readdirSync(backup)) overwrite(join(backup, name), join(stage.data, name))
    for (let tries = 0; tries < 2; tries += 1)
      assert.throws(() => stage.reopen(), /is a copy, or was restored/)
    stage.reopen({ acceptCopy: true })
    stage.reopen()
  })

  test('is refused when a value of its newest checkpoint was changed, which would let it cosign a fork', async () => {
    for (const damage of ["origin = 'log.example/b'", 'size = 4', 'root = zeroblob(32)', 'time = time - 1']) {
      using stage = await openClosed()
      const db = new DatabaseSync(stage.state)
      const found = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'logs_forward'").get()
      db.exec(`DROP TRIGGER logs_forward; UPDATE logs SET ${damage}; ${String(found?.['sql'])}`)
      db.close()
      for (const acceptCopy of [false, true])
        assert.throws(() => stage.reopen({ acceptCopy }), /is damaged: a cosigned checkpoint differs/, damage)
    }
  })

  test('goes on one commit ahead of its mark, as a crash leaves it, and not two', async () => {
    using stage = await openClosed()
    // A further name keeps a mark when the next one takes its place.
    const keepMark = (size: number): string => {
      const kept = `${stage.data}-mark-${size}`
      linkSync(stage.mark, kept)
      return kept
    }
    const marks = [keepMark(5)]
    for (const [old, size] of [
      [5, 6],
      [6, 7],
    ] as const) {
      stage.reopen()
      assert.equal((await stage.add(log.submission(old, size)))[0], 200)
      stage.close()
      marks.push(keepMark(size))
    }
    const [first = '', second = '', third = ''] = marks
    renameSync(second, stage.mark)
    stage.reopen()
    stage.close()
    const commitsOf = (path: string): string => readFileSync(path, 'utf8').split('\n')[0] ?? ''
    assert.equal(commitsOf(stage.mark), commitsOf(third))
    renameSync(first, stage.mark)
    assert.throws(() => stage.reopen(), /lost the mark/)
    rmSync(stage.mark)
    assert.throws(() => stage.reopen(), /lost the mark/)
    writeFileSync(stage.mark, 'commits two\n')
    assert.throws(() => stage.reopen(), /mark that is not well formed/)
    rmSync(stage.mark)
    stage.reopen({ acceptCopy: true })
    assert.equal((await stage.add(log.submission(0, 9)))[1], '7\n')
  })

  test('is made anew only where there is none', async () => {
    using stage = openCosignerStage([log])
    assert.throws(() => stage.reopen({ acceptCopy: true }), /nothing needs --accept-copy/)
    stage.reopen()
    assert.equal((await stage.add(log.submission(0, 3)))[0], 200)
  })
})
