import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FakePostgres } from '../../../test/engine/fake-postgres.ts'
import { openFakePostgres } from '../../../test/engine/fake-postgres.ts'
import { promisesHeldBy } from '../../../test/engine/held-promises.ts'
import type { PrimarySession } from './primary-session.ts'
import { connectServer, openPrimarySession } from './primary-session.ts'

async function openSession({ target }: FakePostgres): Promise<PrimarySession> {
  const [host] = target.hosts
  assert.ok(host !== undefined)
  const found = await connectServer(target, new AbortController().signal)
  return openPrimarySession(target, { host, ...found }, [])
}

suite('the session of a primary', () => {
  test('holds nothing of a statement that was answered', async () => {
    await using server = await openFakePostgres()
    await using session = await openSession(server)
    const ask = () => session.write.use((connection) => connection.ask('SELECT 1'))
    const held = await promisesHeldBy(ask, 200)
    assert.ok(held < 0.25, `a statement leaves ${held} promises`)
  })

  test('connects again after the server refused a connection', async () => {
    // The second connection is the first of the worker.
    await using server = await openFakePostgres((connection) =>
      connection === 2 ? { code: '53300', message: 'sorry, too many clients already' } : null,
    )
    await using session = await openSession(server)
    const ask = () => session.write.use((connection) => connection.ask('SELECT 1'))
    await assert.rejects(ask(), { message: 'sorry, too many clients already (53300)' })
    assert.equal((await ask()).length, 1)
    assert.equal(server.connections(), 3)
  })
})
