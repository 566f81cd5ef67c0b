import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
  stage.trade(230)
})
after(() => stage[Symbol.asyncDispose]())

const seqsOf = (page: string): readonly number[] =>
  [...page.matchAll(/<th scope="row"><a class="seq" href="\/events\/(\d+)"/g)].map(([, seq]) => Number(seq))

const hrefOf = (page: string, rel: 'next' | 'prev'): string | undefined =>
  new RegExp(`<a rel="${rel}" href="([^"]+)"`).exec(page)?.[1]?.replaceAll('&amp;', '&')

const pageAt = async (path: string): Promise<string> => (await stage.get(path)).text()

/** Text of a page without markup. */
const wordsOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', '’')
    .replaceAll(/\s+/g, ' ')

/** Every seq on a page and on the pages that its links lead to. */
async function walk(path: string, rel: 'next' | 'prev'): Promise<readonly number[]> {
  const seen: number[] = []
  for (let at: string | undefined = path; at !== undefined;) {
    const page = await pageAt(at)
    seen.push(...seqsOf(page))
    at = hrefOf(page, rel)
  }
  return seen
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1)

suite('the pages of events', () => {
  test('lead from the first event to the last, each shown once', async () => {
    assert.deepEqual(await walk('/events', 'next'), upTo(243))
  })

  test('lead from the newest event to the first, each shown once', async () => {
    assert.deepEqual(await walk('/events?order=desc', 'next'), upTo(243).toReversed())
  })

  test('lead from the newest to the first under a filter', async () => {
    assert.deepEqual(await walk('/events?type=play,payout&order=desc&limit=1', 'next'), [10, 5, 4])
  })

  test('leave out nothing when a reader changes direction', async () => {
    const page = await pageAt('/events?after=100&limit=10')
    const older = await pageAt(hrefOf(page, 'prev') ?? assert.fail())
    assert.equal(seqsOf(older)[0], 100)
    const newer = await pageAt(hrefOf(older, 'prev') ?? assert.fail())
    assert.equal(seqsOf(newer)[0], 101)
  })

  const ALL = 'The JSON and the CSV of this view hold all of them.'
  const SAME = 'The JSON and the CSV of this view hold the same.'
  const extents: readonly (readonly [path: string, says: string])[] = [
    ['/events', `Shown: events 1 to 100, the first of 243 events after event 0 and up to 243. ${ALL}`],
    [
      '/events?limit=150',
      `Shown: events 1 to 100, the first of 150 events after event 0 and up to 150. ${ALL}`,
    ],
    ['/events?after=143', `Shown: all 100 events after event 143 and up to 243. ${SAME}`],
    ['/events?after=242', `Shown: the only event after event 242 and up to 243. ${SAME}`],
    ['/events?after=2&limit=3', `Shown: all 3 events after event 2 and up to 5. ${SAME}`],
    ['/events?to=2026-10-01T00:03Z', `Shown: all 3 events after event 0 and up to 3. ${SAME}`],
    [
      '/events?from=2026-10-01T00:03Z&limit=102',
      `Shown: events 4 to 103, the first of 102 events after event 3 and up to 105. ${ALL}`,
    ],
    [
      '/events?type=trade',
      `Shown: events 14 to 113, the first of 230 events that match after event 0 and up to 243. ${ALL}`,
    ],
    ['/events?kind=buy&after=143', `Shown: all 100 events that match after event 143 and up to 243. ${SAME}`],
    ['/events?contestId=2', `Shown: the only event that matches after event 0 and up to 243. ${SAME}`],
    [
      '/events?order=desc',
      `Shown: events 243 to 144, the newest of 243 events from event 1 on and before 244. ${ALL}`,
    ],
    [
      '/events?order=desc&before=203&limit=101',
      `Shown: events 202 to 103, the newest of 101 events from event 102 on and before 203. ${ALL}`,
    ],
    ['/events?order=desc&before=9&limit=3', `Shown: all 3 events from event 6 on and before 9. ${SAME}`],
    [
      '/events?type=trade&order=desc',
      `Shown: events 243 to 144, the newest of 230 events that match from event 1 on and before 244. ${ALL}`,
    ],
    [
      '/events?nonzero=1&order=desc&before=20&limit=2',
      `Shown: all 2 events that match from event 18 on and before 20. ${SAME}`,
    ],
    [
      '/events?type=payout&order=desc',
      `Shown: the only event that matches from event 1 on and before 244. ${SAME}`,
    ],
    ['/stream?type=trade', 'Shown: all 100 events that match from event 144 on and before 244.'],
  ]
  for (const [path, says] of extents) {
    test(`${path} says: ${says}`, async () => {
      const page = await pageAt(path)
      assert.ok(wordsOf(page).includes(says), wordsOf(page).split('Shown:')[1] ?? 'nothing is shown')
      const [api = ''] = sourcesOf(page)
      const { events } = (await (await stage.get(api)).json()) as { events: readonly { seq: number }[] }
      const shown = seqsOf(page)
      assert.deepEqual(shown, events.map(({ seq }) => seq).slice(0, 100))
      const [, first, last] = /Shown: #(\d+) to #(\d+),/.exec(says) ?? []
      if (first !== undefined) assert.deepEqual([shown.at(0), shown.at(-1)], [Number(first), Number(last)])
      if (path.startsWith('/stream')) return
      const csv = await (await stage.get(path.replace('/events', '/events.csv'))).text()
      assert.equal(csv.trimEnd().split('\r\n').length - 1, events.length)
    })
  }

  const LOG_BEGINS = 'This is the beginning of the log.'
  const LOG_ENDS = 'This is the end of the log.'
  const RANGE_ENDS = 'This is the end of the range that you chose.'
  const empty: readonly (readonly [path: string, says: string])[] = [
    ['/events?type=expiry', `No expiry between events 0 and 243. ${LOG_ENDS}`],
    ['/events?after=243', `No event between events 243 and 243. ${LOG_ENDS}`],
    ['/events?to=2026-09-01', `No event that matches between events 0 and 0. ${RANGE_ENDS}`],
    ['/events?from=2026-10-02&type=play', `No play that matches between events 243 and 243. ${LOG_ENDS}`],
    ['/events?type=hold&order=desc', `No hold between events 1 and 244. ${LOG_BEGINS}`],
    [
      '/events?type=hold&order=desc&after=200&before=210',
      `No hold between events 201 and 210. ${RANGE_ENDS}`,
    ],
  ]
  for (const [path, says] of empty) {
    test(`${path} says: ${says}`, async () => {
      const words = wordsOf(await pageAt(path))
      assert.ok(words.includes(says), words)
      assert.doesNotMatch(words, /Shown:/)
    })
  }

  test('show nothing that their JSON lacks', async () => {
    for (const [path] of [...extents, ...empty]) {
      const page = await pageAt(path)
      assertParity(page, await Promise.all(sourcesOf(page).map(pageAt)))
    }
  })

  test('redirect format=csv to the API', async () => {
    const response = await fetch(`http://127.0.0.1:${stage.port}/events?format=csv&limit=2`, {
      redirect: 'manual',
    })
    assert.equal(response.status, 303)
    assert.equal(response.headers.get('location'), '/api/v1/events?limit=2&format=csv')
  })

  test('link the stream with the same filter', async () => {
    assert.match(await pageAt('/events?type=payout'), /href="\/stream\?type=payout">Continue live/)
    assert.deepEqual(seqsOf(await pageAt('/stream?type=payout')), [10])
    assert.equal(seqsOf(await pageAt('/stream'))[0], 243)
  })
})
