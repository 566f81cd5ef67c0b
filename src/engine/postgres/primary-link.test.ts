import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { promisesHeldBy } from '../../../test/engine/held-promises.ts'
import { freePort } from '../../../test/processes/free-ports.ts'
import { EngineError } from '../log-engine.ts'
import { openPrimaryLink } from './primary-link.ts'

suite('the link to a primary', () => {
  test('holds nothing of a call that gave up while no server answered', async () => {
    const target = {
      hosts: [{ host: '127.0.0.1', port: await freePort() }],
      user: 'daybook',
      password: null,
      database: 'daybook',
      tls: false,
      connectSeconds: 60,
      applicationName: 'daybook',
      options: null,
      shown: 'no server',
    } as const
    const listeners = { onChange: () => undefined, onNotification: () => undefined }
    await using link = openPrimaryLink(target, [], listeners, null)
    const held = await promisesHeldBy(() => assert.rejects(link.session(1), EngineError), 200)
    assert.ok(held < 0.25, `a call leaves ${held} promises`)
  })
})
