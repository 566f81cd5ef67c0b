import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ApiStage } from '../../../test/api-stage.ts'
import { openApiStage, plan } from '../../../test/api-stage.ts'
import { sendRaw } from '../../../test/raw-request.ts'
import { HOUR_MS } from '../../protocol/moment.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the schedule', () => {
  test('is told day by day, the soonest first', async () => {
    const page = await (await stage.get('/schedule')).text()
    const days = [...page.matchAll(/scope="rowgroup" colspan="2"[^>]*>\s*<time[^>]*>([^<]*)</g)].map(
      ([, day]) => day,
    )
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
    // Not every program knows the scheme; every one takes an address.
    assert.match(page, new RegExp(`<code>http://127\\.0\\.0\\.1:${stage.port}/schedule\\.ics</code>`))
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

  test('of very many shows the soonest, and leads to all of them', async () => {
    const story = Array.from({ length: 5_100 }, (_, index) =>
      plan(index + 1, `Sketch ${index * 7_919} of the ${index}th hour`, (index + 1) * HOUR_MS),
    )
    await using many = await openApiStage({ story })
    const page = await (await many.get('/schedule')).text()
    const rows = [...page.matchAll(/<tr data-key="(?:opens|closes) /g)].length
    assert.equal(rows, 200)
    assert.match(page, /<tr data-key="opens 1"/)
    const bytes = gzipSync(page, { level: 9 }).length
    assert.ok(bytes <= 30 * 1024, `${bytes} bytes`)
    const [, all = ''] = /<a href="([^"]*)">all of them as CSV/.exec(page) ?? []
    assert.equal((await (await many.get(all)).text()).trimEnd().split('\r\n').length, 1 + 10_200)
    const feed = await (await many.get('/schedule.ics')).text()
    assert.equal([...feed.matchAll(/BEGIN:VEVENT/g)].length, 500)
  })

  test('that is short leads to no more', async () => {
    assert.doesNotMatch(await (await stage.get('/schedule')).text(), /all of them as CSV/)
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
