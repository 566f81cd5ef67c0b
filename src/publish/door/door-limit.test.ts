import assert from 'node:assert/strict'
import type { ClientRequest } from 'node:http'
import { request } from 'node:http'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { assertRefused, DOOR_TOKEN, openDoorStage, trade } from '../../../test/stage/door-stage.ts'
import { PUBLISH_REQUESTS_MAX } from './door.ts'

/** A request whose headers the door has read and whose body is not sent yet. */
async function begin(port: number): Promise<ClientRequest> {
  const headers = {
    authorization: `Bearer ${DOOR_TOKEN}`,
    'content-type': 'application/json',
    'content-length': 2,
    expect: '100-continue',
  }
  const begun = request({ port, host: '127.0.0.1', method: 'POST', path: '/publish', headers, agent: false })
  begun.flushHeaders()
  await once(begun, 'continue')
  return begun
}

suite('the door', () => {
  test('accepts a limited number of requests at once, answers 503 to the next, and accepts it when one has ended', async () => {
    await using stage = await openDoorStage()
    const begun: ClientRequest[] = []
    for (let number = 0; number < PUBLISH_REQUESTS_MAX; number++) begun.push(await begin(stage.port()))
    const refused = await stage.publish([trade('a')])
    assertRefused(refused, 503, 'not-ready')
    assert.equal(refused.headers.get('retry-after'), '1')

    await Promise.all(
      begun.map(async (each) => {
        each.end('[]')
        const [response] = await once(each, 'response')
        response.resume()
        await once(response, 'end')
      }),
    )
    assert.equal((await stage.publish([trade('a')])).status, 200)
  })
})
