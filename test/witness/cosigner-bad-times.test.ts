import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { CONTRADICTIONS_MAX, originHashOf } from '../../src/witness/cosigner/cosigner.ts'
import { OWN_LINES_MAX } from '../../src/witness/cosigner/cosigner-keys.ts'
import { openCosignerStage, shownNote, timesOn, WITNESS_KEYS, WITNESS_NAME } from './cosigner-stage.ts'
import { sampleLog, submissionOf } from './sample-log.ts'

const log = sampleLog('log.example/a')
/** The same log with other leaves, as a log that shows two histories has it. */
const fork = sampleLog('log.example/a', 100)
const stranger = sampleLog('log.example/b')

suite('a witness in bad times', () => {
  test('never cosigns earlier than before, and nothing while its clock is 60 s behind', async () => {
    using stage = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    for (const [old, size] of [
      [5, 8],
      [8, 9],
    ] as const) {
      stage.clock.nowMs -= 30_000
      const [status, lines] = await stage.add(log.submission(old, size))
      assert.equal(status, 200)
      assert.deepEqual(await timesOn(`${log.note(size)}${lines}`, stage.cosigner().verifiers), [0, 0])
    }
    stage.clock.nowMs -= 1_000
    for (const body of [log.submission(9, 10), log.submission(9, 9)]) {
      assert.equal((await stage.add(body))[0], 503)
    }
    assert.deepEqual(stage.facts.at(-1), { is: 'clock', origin: log.origin, behindSeconds: 61 })
  })

  test('keeps both notes of a log that signs two roots of one size, once', async () => {
    using stage = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    for (const [old, status] of [
      [0, 409],
      [5, 422],
      [5, 422],
    ] as const) {
      assert.equal((await stage.add(fork.submission(old, 5)))[0], status)
    }
    const facts = stage.facts.filter(({ is }) => is === 'contradiction')
    assert.equal(facts.length, 1)
    assert.equal(stage.cosigner().contradictions(), 1)
    const [folder = ''] = readdirSync(join(stage.data, 'evidence'))
    const kept = (name: string): string => readFileSync(join(stage.data, 'evidence', folder, name), 'utf8')
    assert.equal(kept('first.note'), shownNote(stage, log))
    assert.equal(kept('second.note'), fork.note(5))
    assert.equal((await stage.add(log.submission(5, 6)))[0], 200)
  })

  test('refuses a log whose checkpoint has its own cosignature of a tree that it does not know', async () => {
    using stage = openCosignerStage([log, stranger])
    using twin = openCosignerStage([log, stranger])
    await stage.add(log.submission(0, 5))
    await twin.add(log.submission(0, 9))
    const proved = submissionOf(5, log.proof(5, 9), shownNote(twin, log))
    assert.equal((await stage.add(proved))[0], 503)
    assert.deepEqual(stage.facts.at(-1), { is: 'state-back', origin: log.origin, size: 9 })
    // The refusal lasts, also for requests without the proof and after a restart. Other logs go on.
    assert.equal((await stage.add(log.submission(5, 6)))[0], 503)
    stage.reopen()
    assert.equal((await stage.add(log.submission(5, 6)))[0], 503)
    assert.equal(stage.cosigner().refusedLogs(), 1)
    assert.equal((await stage.add(stranger.submission(0, 3)))[0], 200)
    // The operator accepts: the witness goes forward to the proved tree.
    stage.reopen({ acceptCopy: true })
    assert.equal(stage.cosigner().refusedLogs(), 0)
    assert.equal((await stage.add(log.submission(5, 6)))[1], '9\n')
    assert.equal((await stage.add(log.submission(9, 12)))[0], 200)
  })

  test('refuses a log whose checkpoint has a later cosignature of its own than it knows', async () => {
    using stage = openCosignerStage([log])
    using twin = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    assert.equal((await stage.add(submissionOf(5, '', shownNote(stage, log))))[0], 200)
    twin.wait(20)
    await twin.add(log.submission(0, 5))
    assert.equal((await stage.add(submissionOf(5, '', shownNote(twin, log))))[0], 503)
    stage.wait(30)
    stage.reopen({ acceptCopy: true })
    assert.equal((await stage.add(log.submission(5, 6)))[0], 200)
  })

  test('goes on refusing a log of which its keys have cosigned two histories', async () => {
    using stage = openCosignerStage([log])
    using twin = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    await twin.add(fork.submission(0, 5))
    assert.equal((await stage.add(submissionOf(5, '', shownNote(twin, log))))[0], 503)
    assert.throws(() => stage.reopen({ acceptCopy: true }), /nothing needs --accept-copy/)
    stage.reopen()
    assert.equal((await stage.add(log.submission(5, 6)))[0], 503)
  })

  test('ignores a false line under its own name', async () => {
    using stage = openCosignerStage([log])
    using twin = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    await twin.add(log.submission(0, 9))
    const lines = shownNote(twin, log)
      .split('\n')
      .filter((line) => line.startsWith(`— ${WITNESS_NAME} `))
    const moved = `${log.note(7)}${lines.map((line) => `${line}\n`).join('')}`
    assert.equal((await stage.add(submissionOf(5, log.proof(5, 7), moved)))[0], 200)
  })

  test('verifies a few lines under its own name, and no more', async () => {
    using stage = openCosignerStage([log])
    using twin = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    await twin.add(log.submission(0, 9))
    const linesOf = (note: string): readonly string[] =>
      note.split('\n').filter((line) => line.startsWith(`— ${WITNESS_NAME} `))
    const own = linesOf(shownNote(twin, log))
    // False ones: the lines of other trees and times.
    const falseLines: string[] = []
    for (let size = 10; size < 10 + OWN_LINES_MAX; size += 1) {
      await twin.add(log.submission(size - 1, size))
      falseLines.push(...linesOf(shownNote(twin, log)))
    }
    const shown = (before: readonly string[]): Buffer =>
      submissionOf(
        5,
        log.proof(5, 9),
        `${log.note(9)}${[...before, ...own].map((line) => `${line}\n`).join('')}`,
      )
    assert.equal((await stage.add(shown(falseLines)))[0], 200)
    using other = openCosignerStage([log])
    await other.add(log.submission(0, 5))
    assert.equal((await other.add(shown(falseLines.slice(2))))[0], 503)
  })

  test('keeps the evidence against one log when another has contradicted itself often', async () => {
    using stage = openCosignerStage([log, stranger])
    await stage.add(log.submission(0, 1))
    for (let size = 2; size < 2 + CONTRADICTIONS_MAX + 2; size += 1) {
      await stage.add(log.submission(size - 1, size))
      await stage.add(fork.submission(size, size))
    }
    assert.equal(stage.cosigner().contradictions(), CONTRADICTIONS_MAX)
    await stage.add(stranger.submission(0, 5))
    await stage.add(sampleLog(stranger.origin, 100).submission(5, 5))
    assert.equal(stage.cosigner().contradictions(), CONTRADICTIONS_MAX + 1)
  })

  test('keeps a contradiction again whose folder a crash has left without the notes', async () => {
    using stage = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    const evidence = join(stage.data, 'evidence')
    mkdirSync(join(evidence, 'making'), { recursive: true })
    writeFileSync(join(evidence, 'making', 'first.note'), '')
    assert.equal(stage.cosigner().contradictions(), 0)
    await stage.add(fork.submission(5, 5))
    const [folder = '', ...others] = readdirSync(evidence)
    assert.deepEqual(others, [])
    assert.equal(readFileSync(join(evidence, folder, 'second.note'), 'utf8'), fork.note(5))
  })

  test('gives no cosignature while its state or mark cannot be written', async () => {
    using stage = openCosignerStage([log])
    const [, lines] = await stage.add(log.submission(0, 5))
    // A folder in the place of the journal or of the new mark makes each write of it fail.
    const [journal, mark] = ['witness.db-journal', 'witness-mark.making'].map((name) =>
      join(stage.data, name),
    )
    assert.ok(journal !== undefined && mark !== undefined)
    mkdirSync(journal)
    for (const body of [log.submission(5, 6), log.submission(5, 5)])
      assert.equal((await stage.add(body))[0], 503)
    assert.equal(stage.facts.at(-1)?.is, 'unwritten')
    rmdirSync(journal)
    assert.deepEqual(await stage.add(log.submission(5, 5)), [200, lines])
    mkdirSync(mark)
    // The commit is there without its mark: its cosignature leaves neither here nor to readers.
    for (const old of [5, 7]) assert.equal((await stage.add(log.submission(old, 7)))[0], 503)
    assert.throws(() => stage.cosigner().noteOf(originHashOf(log.origin)))
    rmdirSync(mark)
    assert.equal((await stage.add(log.submission(7, 7)))[0], 200)
    assert.match(shownNote(stage, log), /\n7\n/)
    stage.reopen()
    assert.equal((await stage.add(log.submission(0, 9)))[1], '7\n')
  })

  test('has keys whose cosignatures nobody else can make', async () => {
    using stage = openCosignerStage([log], { keys: WITNESS_KEYS.slice(0, 1) })
    const [, lines] = await stage.add(log.submission(0, 5))
    assert.equal(lines.split('\n').length, 2)
    const verifiers = WITNESS_KEYS.map(({ verifier }) => verifier)
    assert.deepEqual(await timesOn(`${log.note(5)}${lines}`, verifiers), [0])
  })
})
