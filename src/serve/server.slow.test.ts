import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../test/stage/api-stage.ts'
import { sendRaw } from '../../test/stage/raw-request.ts'

suite('the public listener', () => {
  test('closes a connection that is silent or too slow', async () => {
    await using stage = await openApiStage()
    const [silent, slow] = await Promise.all([
      sendRaw(stage.port, ''),
      sendRaw(stage.port, 'GET /api/v1/summary HTTP/1.1\r\nX-A: ', { text: 'x', everyMs: 200 }),
    ])
    assert.equal(silent.text, '')
    assert.match(slow.text, /^HTTP\/1\.1 408 .*\r\nAccess-Control-Allow-Origin: \*/)
    for (const { closedMs } of [silent, slow]) assert.ok(closedMs < 7_000, `closed after ${closedMs} ms`)
  })
})
