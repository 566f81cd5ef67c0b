import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { HOUR_MS } from '../../../protocol/moment.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const find = (sought: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${stage.port}/find?q=${encodeURIComponent(sought)}`, { redirect: 'manual' })

suite('a search', () => {
  const led: readonly (readonly [sought: string, to: string])[] = [
    ['#10', '/events/10'],
    ['event 10', '/events/10'],
    ['Event #10', '/events/10'],
    ['10', '/events/10'],
    ['seq 10', '/events/10'],
    ['contest #2', '/contests/2/ledger'],
    ['first', '/contests/1/ledger'],
    ['FIR', '/contests/1/ledger'],
    ['contest 1', '/contests/1/ledger'],
    ['c2', '/contests/2/ledger'],
    [' 2026-10-01 ', '/events?from=2026-10-01&to=2026-10-02&limit=100'],
    ['2026-10-01T00:05Z', '/events?from=2026-10-01T00:05:00.000Z&limit=100'],
    ['2026-10', '/archive#2026-10'],
    ['1 Oct 2026', '/events?from=2026-10-01&to=2026-10-02&limit=100'],
    ['Thursday 1 October 2026', '/events?from=2026-10-01&to=2026-10-02&limit=100'],
    ['Oct 1, 2026', '/events?from=2026-10-01&to=2026-10-02&limit=100'],
    ['1 October 2026, 00:05 UTC', '/events?from=2026-10-01T00:05:00.000Z&limit=100'],
    ['October 2026', '/archive#2026-10'],
    ['Oct 2026', '/archive#2026-10'],
    ['30 September to 1 October 2026', '/flows?from=2026-09-30&to=2026-10-02'],
    ['2026-09-30..2026-10-01', '/flows?from=2026-09-30&to=2026-10-02'],
    ['1 October 2026 to 5 May 2027', '/flows?from=2026-10-01&to=2026-10-04'],
    ['2026-10-01..9999-12-31', '/flows?from=2026-10-01&to=2026-10-04'],
    ['2015-01-01..2026-10-01', '/flows?from=2015-01-01&to=2026-10-02&bucket=week'],
    ['1 Jan 00:01 to 1 Oct 2026 00:05', '/flows?from=2026-01-01T00:01:00.000Z&to=2026-10-01T00:05:00.000Z'],
    [
      '1 Oct 00:01 to 1 Oct 2026 00:05 UTC',
      '/flows?from=2026-10-01T00:01:00.000Z&to=2026-10-01T00:05:00.000Z&bucket=hour',
    ],
    ['transaction-0001', '/events/10'],
    ['https://explorer.example/tx/transaction-0001?cluster=main', '/events/10'],
    ['https://daybook.example/contests/c2', '/contests/2/ledger'],
  ]
  for (const [sought, to] of led) {
    test(`for ${JSON.stringify(sought)} redirects to ${to}`, async () => {
      const response = await find(sought)
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), to)
      assert.equal((await stage.get(to)).status, 200)
    })
  }

  test('with two matches offers both', async () => {
    const response = await find('1')
    const page = await response.text()
    assert.equal(response.status, 200)
    assert.match(page, /<a href="\/events\/1"[^>]*>Event 1<\/a>/)
    assert.match(page, /<a href="\/contests\/1\/ledger"[^>]*>Contest 1<\/a>/)
  })

  test('for a date whose day and month can be exchanged offers both days', async () => {
    const page = await (await find('2/10/2026')).text()
    for (const day of ['2 Oct 2026', '10 Feb 2026'])
      assert.match(page, new RegExp(`The events of <time[^>]*>${day}</time>`))
    assert.equal((await find('15/11/2026')).headers.get('location'), '/schedule')
    assert.match(
      await (await find('2/11/2026')).text(),
      /<a href="\/schedule"><time[^>]*>2 Nov 2026<\/time> is to come: what opens and closes next<\/a>/,
    )
  })

  test('for a range whose days and months can be exchanged offers both ranges', async () => {
    const page = await (await find('1/9/2026 - 2/10/2026')).text()
    for (const range of ['1 September to 2 October 2026', '9 January to 10 February 2026'])
      assert.match(page, new RegExp(`What was spent and paid from ${range}</a`))
  })

  test('for a month that is a word of a title too offers both', async () => {
    const story = [plan(1, 'October portraits', HOUR_MS), plan(1_234, 'Else', HOUR_MS)]
    await using other = await openApiStage({ story })
    const grouped = await fetch(`http://127.0.0.1:${other.port}/find?q=1,234`, { redirect: 'manual' })
    assert.equal(grouped.headers.get('location'), '/contests/1234/ledger')
    const page = await (await other.get('/find?q=october')).text()
    assert.match(page, /<a href="\/archive#2026-10"[^>]*>The file of <time[^>]*>October 2026<\/time><\/a>/)
    assert.match(page, /<a href="\/contests\/1\/ledger"><bdi>October portraits<\/bdi>/)
  })

  test('for a number that is a word of a title too offers both', async () => {
    const story = [plan(1, 'Grand Cup 2', HOUR_MS), plan(3, 'Else', HOUR_MS)]
    await using other = await openApiStage({ story })
    const page = await (await other.get('/find?q=2')).text()
    assert.match(page, /<a href="\/events\/2"[^>]*>Event 2<\/a>/)
    assert.match(page, /<a href="\/contests\/1\/ledger"><bdi>Grand Cup 2<\/bdi>/)
    const numbered = await fetch(`http://127.0.0.1:${other.port}/find?q=%232`, { redirect: 'manual' })
    assert.equal(numbered.headers.get('location'), '/events/2')
  })

  test('with a wrong letter or word offers the nearest titles', async () => {
    const story = [
      plan(1, 'Photography of the sea', HOUR_MS),
      plan(2, 'Photo duel', HOUR_MS),
      plan(3, 'Duel: Tea vs Coffee', HOUR_MS),
    ]
    await using other = await openApiStage({ story })
    const offered = async (query: string, isPartly = false): Promise<readonly string[]> => {
      const page = await (await other.get(`/find?q=${encodeURIComponent(query)}`)).text()
      assertParity(
        page,
        await Promise.all(sourcesOf(page).map(async (source) => (await other.get(source)).text())),
      )
      const found = /(?:Did you mean|These have some)<\/h2>[^]*?<\/ul>/.exec(page)?.[0] ?? ''
      assert.equal(found.startsWith('These have some'), isPartly)
      return [...found.matchAll(/href="\/contests\/(\d)\/ledger"/g)].map(([, id = '']) => id)
    }
    assert.deepEqual(await offered('photogrpahy'), ['1'])
    assert.deepEqual(await offered('cofee'), ['3'])
    assert.deepEqual(await offered('dule tee'), ['3'])
    assert.deepEqual(await offered('chess'), [])
    // With a wrong word, the titles that have at least half of the words, the most like first.
    assert.deepEqual(await offered('Duel: Cofee vs Chess', true), ['3'])
    assert.deepEqual(await offered('photo chess duel', true), ['2'])
    assert.deepEqual(await offered('duel chess', true), ['3', '2'])
    assert.deepEqual(await offered('duel of the chess club'), [])
  })

  const nowhere = ['1 Oct 99999', '99999', '#99999', 'contest 99', 'a'.repeat(64), '2026-02-30', '<b>']
  // The last representable day ends after the last moment, and no month is the 99th.
  for (const sought of [...nowhere, '9999-12-31', '2026-99', '1969-12']) {
    test(`for ${JSON.stringify(sought.slice(0, 12))} says that nothing was found`, async () => {
      const response = await find(sought)
      assert.equal(response.status, 200)
      assert.match(await response.text(), /Nothing found/)
    })
  }

  test('for words of several titles lists the contests, each with its state', async () => {
    const story = [
      plan(1, 'Duel: Cats vs Dogs', HOUR_MS),
      plan(2, 'Duel: Tea vs Coffee', HOUR_MS),
      plan(3, 'Else', HOUR_MS),
    ]
    await using other = await openApiStage({ story })
    const page = await (await other.get('/find?q=duel')).text()
    const found = /class="found"[^]*?<\/div>/.exec(page)?.[0] ?? ''
    assert.deepEqual(
      [...found.matchAll(/href="\/contests\/(\d)\/ledger"><bdi>([^<]*)<[^]*?data-state="(\w+)"/g)].map(
        (one) => one.slice(1),
      ),
      [
        ['2', 'Duel: Tea vs Coffee', 'upcoming'],
        ['1', 'Duel: Cats vs Dogs', 'upcoming'],
      ],
    )
    const answers = sourcesOf(page).map(async (source) => (await other.get(source)).text())
    assertParity(page, await Promise.all(answers))
  })

  test('says of a contest whether it closes or has closed', async () => {
    const story: readonly StoryEvent[] = [
      plan(1, 'Duel: Cats vs Dogs', HOUR_MS),
      { type: 'contest', kind: 'opened', contestId: 1 },
      { type: 'contest', kind: 'closed', contestId: 1 },
      plan(2, 'Duel: Tea vs Coffee', HOUR_MS),
    ]
    await using other = await openApiStage({ story })
    const page = await (await other.get('/find?q=duel')).text()
    assert.deepEqual(
      [...page.matchAll(/<small\s*>(clos\w+)\s*<time/g)].map(([, word]) => word),
      ['closes', 'closed'],
    )
  })

  test('that finds nothing names the next steps, and repeats the query in its field only', async () => {
    const page = await (await find('nowhere to be found')).text()
    assert.match(page, /<a href="\/contests">Look through all contests<\/a>/)
    assert.match(page, /The newest event is <a class="seq" href="\/events\/13">/)
    assert.equal(page.split('nowhere to be found').length, 2)
    assert.match(page, /value="nowhere to be found"/)
  })

  test('suggests the titles of the newest contests without a script', async () => {
    const page = await (await find('')).text()
    assert.match(page, /<input[^>]*list="titles"[^]*<datalist id="titles">\s*<option value="First">/)
  })

  test('is refused when it is too long', async () => {
    assert.equal((await find('a'.repeat(301))).status, 400)
  })
})
