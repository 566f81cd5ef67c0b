import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../../../test/api-stage.ts'
import { openApiStage } from '../../../test/api-stage.ts'
import { sendRaw } from '../../../test/raw-request.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the schedule', () => {
  test('is told day by day, the soonest first', async () => {
    const page = await (await stage.get('/schedule')).text()
    const days = [...page.matchAll(/scope="rowgroup" colspan="2"><time[^>]*>([^<]*)</g)].map(([, day]) => day)
    assert.deepEqual(days, ['2026-10-06', '2026-10-07', '2026-10-10'])
    assert.match(page, /<b>opens<\/b>/)
    assert.match(page, /Loyalty reward for 2026-09 is paid/)
  })

  test('begins with the next loyalty payment', async () => {
    assert.match(await (await stage.get('/schedule')).text(), /Next loyalty payment: for 2026-09, at/)
  })

  test('that is blank says so, and where to look', async () => {
    await using empty = await openApiStage({ story: [] })
    const page = await (await empty.get('/schedule')).text()
    assert.match(page, /Nothing is planned\. <a href="\/contests">/)
    assert.match(page, /not announced yet/)
  })

  test('is subscribed to at the host that was asked', async () => {
    const page = await (await stage.get('/schedule')).text()
    assert.match(page, new RegExp(`href="webcal://127\\.0\\.0\\.1:${stage.port}/schedule\\.ics"`))
    assert.match(page, /href="\/schedule\.ics"/)
  })

  test('takes no host into an address that is none', async () => {
    const { text } = await sendRaw(
      stage.port,
      'GET /schedule HTTP/1.1\r\nHost: a"b\r\nConnection: close\r\n\r\n',
    )
    assert.match(text, /schedule\.ics/)
    assert.doesNotMatch(text, /webcal/)
  })

  test('is the same calendar as that of the API', async () => {
    const [page, api] = await Promise.all(
      ['/schedule.ics', '/api/v1/schedule.ics'].map((path) => stage.get(path)),
    )
    assert.ok(page !== undefined && api !== undefined)
    assert.equal(page.headers.get('content-type'), 'text/calendar; charset=utf-8')
    assert.equal(page.headers.get('etag'), api.headers.get('etag'))
    assert.equal(await page.text(), await api.text())
  })

  test('is a row for each plan as CSV', async () => {
    const csv = await (await stage.get('/schedule.csv')).text()
    assert.deepEqual(csv.trimEnd().split('\r\n'), [
      'what,contestId,title,month,at,atMs',
      'opens,2,,,2026-10-06T00:00:00.000Z,1791244800000',
      'closes,2,,,2026-10-07T00:00:00.000Z,1791331200000',
      'pays,,,2026-09,2026-10-10T00:00:00.000Z,1791590400000',
    ])
  })
})
