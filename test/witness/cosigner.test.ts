import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import {
  type CosignerStage,
  openCosignerStage,
  shownNote,
  STAGE_SECONDS,
  timesOn,
  WITNESS_NAME,
} from './cosigner-stage.ts'
import { sampleLog, submissionOf } from './sample-log.ts'

const log = sampleLog('log.example/a')
/** The same log with other leaves, as a log that shows two histories has it. */
const fork = sampleLog('log.example/a', 100)
const stranger = sampleLog('log.example/b')
/** A log of the same origin with another key. */
const impostor = sampleLog('log.example/a', 0, 77)
/** Files that a refused request must leave as they are. */
function filesOf({ data }: CosignerStage): readonly Buffer[] {
  return ['witness.db', 'witness-mark'].map((name) => readFileSync(join(data, name)))
}

suite('a witness', () => {
  test('cosigns each growth with every key, and shows the note with log and witness', async () => {
    using stage = openCosignerStage([log])
    const { verifiers } = stage.cosigner()
    assert.deepEqual(
      verifiers.map(({ type }) => type),
      ['ed25519-cosignature', 'ml-dsa-44-cosignature'],
    )
    let old = 0
    for (const [index, size] of [0, 1, 2, 7, 8, 31, 40].entries()) {
      const [status, lines] = await stage.add(log.submission(old, size))
      assert.equal(status, 200)
      const note = `${log.note(size)}${lines}`
      assert.deepEqual(await timesOn(note, verifiers), [index, index])
      assert.equal(shownNote(stage, log), note)
      old = size
      stage.wait(1)
    }
    assert.deepEqual(stage.cosigner().sizes(), [{ origin: log.origin, size: 40, time: STAGE_SECONDS + 6 }])
    assert.equal(stage.cosigner().name, WITNESS_NAME)
  })

  test('writes nothing when it refuses, and repeats nothing of the request', async () => {
    using stage = openCosignerStage([log])
    assert.equal((await stage.add(log.submission(0, 5)))[0], 200)
    stage.wait(60)
    const before = filesOf(stage)
    for (const [status, body] of [
      [400, Buffer.from('old 0\n')],
      [404, stranger.submission(9, 3)],
      [403, impostor.submission(5, 9)],
      [409, log.submission(3, 9)],
      [422, fork.submission(5, 9)],
    ] as const) {
      const [given, text] = await stage.add(body)
      assert.equal(given, status, text)
      assert.match(text, status === 409 ? /^5\n$/ : /^[^+]{10,200}\n$/)
    }
    assert.deepEqual(filesOf(stage), before)
    assert.equal((await stage.add(log.submission(5, 9)))[0], 200)
  })

  test('takes a log with any of its keys, and keeps only the lines of those', async () => {
    using stage = openCosignerStage([log], {
      logs: [{ origin: log.origin, keys: [log.key, impostor.key] }],
    })
    assert.equal((await stage.add(impostor.submission(0, 2)))[0], 200)
    const both = `${log.note(4)}${impostor.note(4).split('\n\n')[1] ?? ''}${stranger.note(4).split('\n\n')[1] ?? ''}`
    assert.equal((await stage.add(submissionOf(2, log.proof(2, 4), both)))[0], 200)
    assert.deepEqual(shownNote(stage, log).match(/(?<=^— )\S+/gm), [
      log.origin,
      log.origin,
      WITNESS_NAME,
      WITNESS_NAME,
    ])
  })

  test('knows after a restart what it has cosigned', async () => {
    using stage = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    const note = shownNote(stage, log)
    stage.reopen()
    assert.equal(shownNote(stage, log), note)
    assert.equal((await stage.add(fork.submission(0, 6)))[1], '5\n')
    assert.equal((await stage.add(fork.submission(5, 6)))[0], 422)
  })

  test('asks its guard last, and cosigns only what that allows', async () => {
    const asked: number[] = []
    using stage = openCosignerStage([log], {
      guard: async ({ checkpoint: { size } }) => {
        asked.push(size)
        if (size <= 5) return null
        const outcome = size > 8 ? 'inconsistent' : 'unproved'
        return { outcome, reason: 'this tree is not proved here' }
      },
    })
    assert.equal((await stage.add(log.submission(0, 5)))[0], 200)
    assert.deepEqual(await stage.add(log.submission(5, 8)), [503, 'this tree is not proved here\n'])
    assert.equal((await stage.add(fork.submission(5, 9)))[0], 422)
    assert.deepEqual(asked, [5, 8], 'it is asked last')
    assert.deepEqual(await stage.add(log.submission(5, 9)), [422, 'this tree is not proved here\n'])
  })
})

suite('the cost of a request to a witness', () => {
  test('is nothing for an equal checkpoint within 10 s: the same lines come again', async () => {
    using stage = openCosignerStage([log])
    const [, lines] = await stage.add(log.submission(0, 5))
    const files = filesOf(stage)
    for (let count = 0; count < 200; count += 1) {
      assert.deepEqual(await stage.add(log.submission(5, 5)), [200, lines])
    }
    assert.deepEqual(filesOf(stage), files)
    stage.wait(10)
    const [, later] = await stage.add(log.submission(5, 5))
    assert.deepEqual(await timesOn(`${log.note(5)}${later}`, stage.cosigner().verifiers), [10, 10])
  })

  test('is nothing for another text of the same size within 10 s: it is asked to come later', async () => {
    using stage = openCosignerStage([log])
    await stage.add(log.submission(0, 5))
    const other = submissionOf(5, '', log.note(5, ['another line']))
    assert.deepEqual((await stage.cosigner().add(other)).retryAfterSeconds, 10)
    stage.wait(10)
    const [status, lines] = await stage.add(other)
    assert.equal(status, 200)
    assert.deepEqual(
      await timesOn(`${log.note(5, ['another line'])}${lines}`, stage.cosigner().verifiers),
      [10, 10],
    )
  })

  test('counts only growth, so that replays use nothing of the allowance of a log', async () => {
    using stage = openCosignerStage([log], { growthPerMinute: 3 })
    for (const size of [1, 2]) {
      await stage.add(log.submission(size - 1, size))
      for (let count = 0; count < 20; count += 1) {
        await stage.add(log.submission(size, size))
        await stage.add(log.submission(0, size))
        await stage.add(fork.submission(size, 9))
      }
    }
    assert.equal((await stage.add(log.submission(2, 3)))[0], 200)
    const { status, retryAfterSeconds } = await stage.cosigner().add(log.submission(3, 4))
    assert.deepEqual([status, retryAfterSeconds], [429, 20])
    assert.equal((await stage.add(log.submission(3, 3)))[0], 200)
    stage.wait(20)
    assert.equal((await stage.add(log.submission(3, 4)))[0], 200)
  })

  test('lets the largest tree wait for the allowance, so that replays of older ones cannot keep it out', async () => {
    using stage = openCosignerStage([log], { growthPerMinute: 30 })
    for (let size = 1; size <= 30; size += 1) {
      assert.equal((await stage.add(log.submission(size - 1, size)))[0], 200)
    }
    const older = stage.add(log.submission(30, 31))
    await settled()
    const newest = stage.add(log.submission(30, 40))
    assert.equal((await older)[0], 429)
    const { status, retryAfterSeconds } = await stage.cosigner().add(log.submission(30, 35))
    assert.deepEqual([status, retryAfterSeconds], [429, 2])
    stage.wait(2)
    assert.equal((await newest)[0], 200)
    assert.equal((await stage.add(log.submission(30, 31)))[1], '40\n')
  })

  test('is judged again after a wait', async () => {
    using stage = openCosignerStage([log], { growthPerMinute: 30 })
    for (let size = 1; size <= 30; size += 1) await stage.add(log.submission(size - 1, size))
    const waiting = stage.add(log.submission(30, 31))
    await settled()
    stage.clock.nowMs -= 100_000
    stage.wait(2)
    assert.equal((await waiting)[0], 503)
  })
})
