import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { until } from '../processes/other-program.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { askedWitnesses } from '../../src/witness/command/serve-witnessed.ts'
import { TEST_KEY } from '../story/signing.ts'
import { startScriptedWitness } from './scripted-witness.ts'

const NEW_LOG = { origin: 'daybook.test/unanswered', chain: 'opaque', simulated: false } as const

suite('a witness that takes a question and never answers', () => {
  test('delays no publication, and leaves the log without a witnessed checkpoint', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-unanswered-'))
    const clock = openSharedClock()
    clock.set(msOf(Date.now()))
    try {
      await using witness = await startScriptedWitness('witness.example/silent')
      witness.behaviour = null
      const choice = { witnesses: [{ key: witness.key, url: witness.url }], quorum: 1 }
      const settings = { cosigners: askedWitnesses(choice, { roundMs: 10, idleMs: 10 }) }
      await using service = await startLocalNode(join(folder, 'log'), NEW_LOG, [TEST_KEY], clock, {
        settings,
      })
      const publish = async (ref: string): Promise<number> =>
        (await postDrafts(service, [{ ref, type: 'trade', kind: 'buy', kots: '1' }])).status
      const read = (path: string): Promise<Response> =>
        fetch(`http://127.0.0.1:${service.port}/api/v1/log/${path}`)
      assert.equal(await publish('first'), 200)
      await until('the witness is asked', () => Promise.resolve(witness.asked.length === 1))
      for (const ref of ['second', 'third']) assert.equal(await publish(ref), 200)
      assert.equal((await (await read('checkpoint')).text()).split('\n')[1], '3')
      assert.equal((await read('checkpoint.witnessed')).status, 404)
      // A second question would mean that the first one had ended before the publications.
      assert.equal(witness.asked.length, 1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
