import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { assertCalendar, valuesOf } from '../../../../test/stage/icalendar.ts'
import { LAUNCH, plan } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { sendRaw } from '../../../../test/stage/raw-request.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, msOf } from '../../../protocol/moment.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('the schedule', () => {
  test('begins with the next plan in a sentence', async () => {
    const page = await (await stage.get('/schedule')).text()
    assert.match(page, /<h1[^>]*>Contest 2 opens <br \/><time [^>]*>6 Oct 00:00 UTC<\/time><\/h1>/)
    assert.match(page, /That is <time [^>]*>in 3 days<\/time>\./)
  })

  test('lists plans day by day, the soonest first', async () => {
    const page = await (await stage.get('/schedule')).text()
    const lines = [...page.matchAll(/<li [^>]*>([^]*?)<\/li>/g)]
      .map(([, line = '']) =>
        line
          .replaceAll(/<[^>]*>/g, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      )
      .slice(0, 4)
    assert.deepEqual(lines, [
      'Tue 6 Oct UTC',
      '00:00 UTC Contest 2 opens in 3 days',
      'Wed 7 Oct UTC',
      '00:00 UTC Contest 2 closes in 4 days',
    ])
  })

  test('has the next loyalty reward beside them', async () => {
    const page = (await (await stage.get('/schedule')).text()).replaceAll(/<[^>]*>/g, '')
    assert.match(page, /The reward for September 2026 is paid 10 Oct 00:00 UTC,\s+in 7 days\./)
  })

  test('says of an overdue reward that nothing of it is paid', async () => {
    await using late = await openApiStage()
    late.setNow(msOf(LAUNCH + 12 * DAY_MS))
    const page = (await (await late.get('/schedule')).text()).replaceAll(/<[^>]*>/g, '')
    assert.match(
      page.replaceAll(/\s+/g, ' '),
      /The reward for September 2026 was to be paid 10 Oct 00:00 UTC, 3 days ago\. No payment of it is published yet\./,
    )
  })

  test('has the next plan in its link preview, not an overdue one', async () => {
    await using late = await openApiStage({
      story: [plan(1, 'Late', MINUTE_MS), plan(2, 'Grand Cup', HOUR_MS)],
      apartMs: 2 * MINUTE_MS,
    })
    late.setNow(msOf(LAUNCH + 3 * MINUTE_MS))
    const page = await (await late.get('/schedule')).text()
    assert.match(page, /<b>opens<\/b> at any moment: it was planned for/)
    assert.match(page, /name="description" content="[^"]*Planned next: Grand Cup \(contest 2\) opens, at/)
    await using over = await openApiStage({
      story: [plan(1, 'Late', 0), plan(2, 'Later', 0)],
      apartMs: 2 * DAY_MS,
    })
    over.setNow(msOf(LAUNCH + 3 * DAY_MS))
    const told = await (await over.get('/schedule')).text()
    assert.doesNotMatch(told, /Planned next/)
    assert.match(told, /<h1[^>]*>\s*<bdi>Late\w*<\/bdi> was to open <time/)
    assert.match(told, /That event has not been published yet\. Nothing else is planned\./)
  })

  test('says that it is empty, and links the contests', async () => {
    await using empty = await openApiStage({ story: [] })
    const page = await (await empty.get('/schedule')).text()
    assert.match(page, /<h1>Nothing is planned<\/h1>\s*<p class="lead">\s*See <a href="\/contests">/)
    assert.match(page, /not announced yet/)
  })

  test('links its calendar by the URL of the site', async () => {
    const page = await (await stage.get('/schedule')).text()
    assert.match(page, new RegExp(`href="webcal://127\\.0\\.0\\.1:${stage.port}/schedule\\.ics"`))
    // Not every program supports the `webcal` scheme.
    assert.match(page, new RegExp(`<code>http://127\\.0\\.0\\.1:${stage.port}/schedule\\.ics</code>`))
    assert.match(page, /href="\/schedule\.ics"/)
  })

  test('is the same page for every Host header', async () => {
    const pages = await Promise.all(
      ['data.example.org', 'a"b'].map(async (host) => {
        const { text } = await sendRaw(
          stage.port,
          `GET /schedule HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        )
        return text.split('\r\n\r\n', 2)[1]
      }),
    )
    assert.equal(pages[0], pages[1])
    assert.match(pages[0] ?? '', new RegExp(`webcal://127\\.0\\.0\\.1:${stage.port}/schedule\\.ics`))
  })

  test('has the calendar of the API, with the name of the service and a page for each entry', async () => {
    const [page, api] = await Promise.all(
      ['/schedule.ics', '/api/v1/schedule.ics'].map((path) => stage.get(path)),
    )
    assert.ok(page !== undefined && api !== undefined)
    assert.equal(page.headers.get('content-type'), 'text/calendar; charset=utf-8')
    const feed = await page.text()
    assertCalendar(feed)
    const addressOf = (uid: string): string => {
      const [, id] = /^contest-(\d+)-/.exec(uid) ?? []
      return `http://127.0.0.1:${stage.port}${id === undefined ? '/loyalty/runs' : `/contests/${id}/ledger`}`
    }
    const uids = valuesOf(feed, 'UID')
    assert.ok(uids.length > 1)
    assert.deepEqual(valuesOf(feed, 'URL;VALUE=URI'), uids.map(addressOf))
    assert.deepEqual(valuesOf(feed, 'NAME'), ['Daybook: schedule'])
    assert.deepEqual(valuesOf(feed, 'X-WR-CALNAME'), ['Daybook: schedule'])
    const bare = feed
      .replaceAll('\r\n ', '')
      .replaceAll(/^URL;VALUE=URI:.*\r\n/gm, '')
      .replaceAll('Daybook: schedule', 'Contests and payments')
    assert.equal(bare, (await api.text()).replaceAll('\r\n ', ''))
    const again = await stage.get('/schedule.ics', { 'If-None-Match': page.headers.get('etag') ?? '' })
    assert.equal(again.status, 304)
  })

  test('of very many plans shows the soonest, and links all of them', async () => {
    const story = Array.from({ length: 5_100 }, (_, index) =>
      plan(index + 1, `Sketch ${index * 7_919} of the ${index}th hour`, (index + 1) * HOUR_MS),
    )
    await using many = await openApiStage({ story })
    const page = await (await many.get('/schedule')).text()
    const rows = [...page.matchAll(/<li data-row="[^"]*" data-key="(?:opens|closes) /g)].length
    assert.equal(rows, 100)
    assert.match(page, /data-key="opens 1"/)
    const bytes = gzipSync(page, { level: 9 }).length
    assert.ok(bytes <= 30 * 1024, `${bytes} bytes`)
    const [, all = ''] = /<a href="([^"]*)">all of them as CSV/.exec(page) ?? []
    assert.equal((await (await many.get(all)).text()).trimEnd().split('\r\n').length, 1 + 10_200)
    const feed = await (await many.get('/schedule.ics')).text()
    assert.equal([...feed.matchAll(/BEGIN:VEVENT/g)].length, 500)
  })

  test('that is short links no export of the rest', async () => {
    assert.doesNotMatch(await (await stage.get('/schedule')).text(), /all of them as CSV/)
  })

  test('draws each contest from its opening to its closing, and describes it in words', async () => {
    await using told = await openApiStage({
      story: [
        plan(1, 'Of today', HOUR_MS),
        { type: 'contest', kind: 'opened', contestId: 1 },
        plan(2, null, 48 * HOUR_MS),
      ],
    })
    const page = await (await told.get('/schedule')).text()
    const answers = sourcesOf(page).map(async (source) => (await told.get(source)).text())
    assertParity(page, await Promise.all(answers))
    const described = /<desc id="timeline-desc">([^<]*)</.exec(page)?.[1]
    assert.equal(
      described,
      'Of today (contest 1): open since 1 Oct 2026 00:01:00 UTC, planned to close at 2 Oct 2026 01:00:00 UTC. ' +
        'Contest 2: planned to open at 3 Oct 2026 00:00:00 UTC, planned to close at 4 Oct 2026 00:00:00 UTC.',
    )
    assert.match(page, /open since <time datetime="2026-10-01T00:01:00\.000Z"/)
    const bars = [...page.matchAll(/<rect\s+class="([^"]*)"\s+x="([^"]*)"\s+width="([^"]*)"/g)]
    // The timeline spans 72 hours less a minute; the first contest has been open for one minute.
    assert.deepEqual(
      bars.map(([, style, x, width]) => [style, x, width]),
      [
        ['f1 pale', '0.02%', '34.69%'],
        ['f1', '0%', '0.4%'],
        ['f1 pale', '66.66%', '33.34%'],
      ],
    )
  })

  test('cuts a long title in its picture between words, so that no figure loses digits', async () => {
    await using told = await openApiStage({
      story: [plan(1, 'Photographs of each bridge of 20262027', HOUR_MS)],
    })
    const page = await (await told.get('/schedule')).text()
    const answers = sourcesOf(page).map(async (source) => (await told.get(source)).text())
    assertParity(page, await Promise.all(answers))
    assert.match(page, />Photographs of each bridge of…</)
  })

  test('draws the contests that close first, and says that there are more', async () => {
    const story = Array.from({ length: 20 }, (_, index) => plan(index + 1, null, (20 - index) * HOUR_MS))
    await using many = await openApiStage({ story })
    const page = await (await many.get('/schedule')).text()
    const marks = [...page.matchAll(/<tspan>(#\d+)</g)].map(([, mark]) => mark)
    assert.deepEqual(marks, ['#20', '#19', '#18', '#17', '#16', '#15', '#14', '#13'])
    assert.match(page, /\(only the first to close\)/)
  })

  test('draws an open contest whose close is overdue up to now', async () => {
    await using late = await openApiStage({
      story: [
        plan(1, 'Late', -48 * HOUR_MS),
        { type: 'contest', kind: 'opened', contestId: 1 },
        { type: 'trade', kind: 'buy', kots: '1' },
      ],
    })
    const page = await (await late.get('/schedule')).text()
    assert.match(page, /<rect\s+class="f1"\s+x="0%"\s+width="100%"/)
    assert.doesNotMatch(page, /<rect\s+class="f1 pale"|NaN/)
  })

  test('has a row for each plan in its CSV', async () => {
    const csv = await (await stage.get('/schedule.csv')).text()
    assert.deepEqual(csv.trimEnd().split('\r\n'), [
      'what,contestId,title,month,at,atMs',
      'opens,2,,,2026-10-06T00:00:00.000Z,1791244800000',
      'closes,2,,,2026-10-07T00:00:00.000Z,1791331200000',
      'pays,,,2026-09,2026-10-10T00:00:00.000Z,1791590400000',
    ])
  })
})
