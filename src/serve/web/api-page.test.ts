import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../../../test/api-stage.ts'
import { openApiStage } from '../../../test/api-stage.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the reference', () => {
  test('has a form, a request and an anchor for every endpoint', async () => {
    const page = await (await stage.get('/api')).text()
    for (const { id, path } of ENDPOINTS) {
      assert.ok(page.includes(`<h3 id="${id}">GET ${path.replace('...}', '}')}</h3>`), id)
      assert.ok(page.includes(`<input type="hidden" name="endpoint" value="${id}" />`), id)
    }
    assert.equal(page.match(/<dt>curl<\/dt>/g)?.length, ENDPOINTS.length)
  })

  const sent: readonly (readonly [sent: string, asked: string])[] = [
    ['endpoint=flows&from=&to=&bucket=hour', '/api/v1/flows?bucket=hour'],
    ['endpoint=events&type=payout%2Cburn&limit=3&order=', '/api/v1/events?type=payout%2Cburn&limit=3'],
    ['endpoint=event&seq=10', '/api/v1/events/10'],
    ['endpoint=logTile&level=0&tile=000.p%2F13', '/api/v1/log/tile/0/000.p/13'],
    ['endpoint=flows&bucket=', '/api/v1/flows'],
  ]
  for (const [form, asked] of sent) {
    test(`leads from the form ${form} to ${asked}`, async () => {
      const response = await fetch(`http://127.0.0.1:${stage.port}/api?${form}`, { redirect: 'manual' })
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), asked)
      assert.equal((await stage.get(asked)).status, 200)
    })
  }

  test('leads nowhere else', async () => {
    for (const form of [
      'endpoint=event&seq=..%2Fflows',
      'endpoint=event&seq=',
      'endpoint=event&seq=%2F%2Fa.example',
    ]) {
      assert.equal((await stage.get(`/api?${form}`)).status, 200, form)
      assert.equal(
        (await fetch(`http://127.0.0.1:${stage.port}/api?${form}`, { redirect: 'manual' })).status,
        200,
      )
    }
    assert.equal((await stage.get('/api?endpoint=nothing')).status, 400)
  })
})
