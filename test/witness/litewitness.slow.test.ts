import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { skipUnless } from '../processes/test-needs.ts'
import { addCheckpointBody, openAskingLog } from './asking-log.ts'
import { HAS_LITEWITNESS, type Litewitness, LITEWITNESS_NEEDED, startLitewitness } from './litewitness.ts'
import { askWitness, assertCase, assertCosigned, cosignedSize } from './witness-case.ts'
import { WITNESS_CASES } from './witness-cases.ts'

/** A witness of another author. Where it differs from C2SP tlog-witness, the case says so. */
suite('litewitness', { skip: skipUnless(HAS_LITEWITNESS, LITEWITNESS_NEEDED), timeout: 300_000 }, () => {
  let litewitness: Litewitness
  let witness: Readonly<{ url: string; vkeys: readonly string[] }>
  before(async () => {
    litewitness = await startLitewitness(
      'litewitness.example/w1',
      WITNESS_CASES.map(({ origin }) => openAskingLog(origin)),
    )
    witness = { url: litewitness.url, vkeys: [litewitness.vkey] }
  })
  after(() => litewitness[Symbol.asyncDispose]())

  for (const one of WITNESS_CASES) test(one.name, () => assertCase(witness, one, one.litewitness))

  test('learns of a log while it runs', async () => {
    const log = openAskingLog('log.example/later')
    const body = addCheckpointBody(0, [], log.checkpoint(5))
    assert.equal((await askWitness(witness, body)).status, 404)
    litewitness.addLog(log)
    await assertCosigned(witness, body)
  })

  test('cosigns one of several trees that are asked at once', async () => {
    const log = openAskingLog('log.example/at-once')
    litewitness.addLog(log)
    const sizes = Array.from({ length: 8 }, (_, index) => index + 1)
    const answers = await Promise.all(
      sizes.map((size) => askWitness(witness, addCheckpointBody(0, [], log.checkpoint(size)))),
    )
    const cosigned = sizes.filter((_, index) => answers[index]?.status === 200)
    assert.deepEqual(cosigned, [await cosignedSize(witness, log)])
    assert.equal(answers.filter(({ status }) => status === 409).length, sizes.length - 1)
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    test(`keeps its key and the size after ${signal}`, async () => {
      const log = openAskingLog(`log.example/${signal}`)
      litewitness.addLog(log)
      await assertCosigned(witness, addCheckpointBody(0, [], log.checkpoint(5)))
      await litewitness.stop(signal)
      await assert.rejects(fetch(witness.url))
      await litewitness.start()
      assert.equal(await cosignedSize(witness, log), 5)
      await assertCosigned(witness, addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9)))
    })
  }
})
