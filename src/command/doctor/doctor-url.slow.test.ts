import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { run, startProxy } from '../../../test/stage/command-stage.ts'
import { SAMPLE } from '../../../test/stage/places.ts'
import { type Service, startService } from '../../../test/stage/service.ts'

let service: Service

before(async () => {
  service = await startService({ drafts: SAMPLE })
})
after(() => service[Symbol.asyncDispose]())

/** Report about the service when each request for `path` gets this answer instead. */
async function reportWith(
  path: string,
  status: number,
  headers: Record<string, string> = {},
): Promise<readonly string[]> {
  const failing = createServer((_request, response) => response.writeHead(status, headers).end('no JSON'))
  failing.listen(0, '127.0.0.1')
  await once(failing, 'listening')
  const failingUrl = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`
  try {
    await using proxy = await startProxy(
      (asked) => (asked === path ? failingUrl : service.url),
      () => 'none',
    )
    const { code, stdout } = await run(['doctor', '--url', proxy.url, '--wait', '60'])
    assert.equal(code, 1, stdout)
    return stdout.split('\n')
  } finally {
    failing.closeAllConnections()
    failing.close()
  }
}

const wrongIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.startsWith('wrong')).map((line) => line.replaceAll(/ {2,}/g, ' '))

suite('doctor of a service', () => {
  test('says how long to wait when the rate limit is used up', async () => {
    const limited = { 'retry-after': '40' }
    const says = 'the rate limit of this address is used up: run doctor again in 40 s'
    assert.deepEqual(wrongIn(await reportWith('/api/v1/status', 429, limited)), [`wrong service ${says}`])
    assert.deepEqual(wrongIn(await reportWith('/api/v1/log/checkpoint', 429, limited)), [
      `wrong checkpoint ${says}`,
      `wrong cache /api/v1/log/checkpoint: ${says}`,
    ])
  })

  test('says which status the checkpoint or the list of keys has', async () => {
    const wrong = wrongIn(await reportWith('/api/v1/log/keys', 503))
    assert.deepEqual(wrong, ['wrong checkpoint the list of keys: the service answered 503'])
  })

  test('goes on after an archive that fails', async () => {
    const lines = await reportWith('/api/v1/archive', 503)
    assert.deepEqual(wrongIn(lines), ['wrong ranges the service answered 503'])
    assert.match(lines.join('\n'), /^ok +private /m)
  })

  test('prints what it has found before an answer that cannot be read', async () => {
    const lines = await reportWith('/api/v1/log/keys', 200)
    assert.match(lines.join('\n'), /^ok +headers /m)
  })
})
