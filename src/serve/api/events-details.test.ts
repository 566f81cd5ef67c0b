import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { plan, type StoryEvent } from '../../../test/story/api-story.ts'
import { DETAILED_PAGE_BYTES_MAX } from '../../protocol/parameters.ts'
import type { EventsPage } from '../../protocol/endpoints/event-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'

suite('details=1 on /events', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  const textOf = async (path: string): Promise<string> => {
    const response = await stage.get(path)
    assert.equal(response.status, 200, path)
    return response.text()
  }
  const detailsOf = (seq: number): string =>
    stage.reader.snapshot((snapshot) => snapshot.detailsLine(seqOf(seq))) ?? ''

  test('adds a member `details` by seq, and leaves events and page as they are', async () => {
    const [alone, detailed] = await Promise.all([
      textOf('/api/v1/events'),
      textOf('/api/v1/events?details=1'),
    ])
    const { details, ...rest } = JSON.parse(detailed) as EventsPage
    assert.deepEqual(rest, JSON.parse(alone))
    assert.deepEqual(Object.keys(details ?? {}), ['2', '8', '12', '13'])
    for (const seq of [2, 8, 12, 13]) {
      const own = detailsOf(seq)
      assert.deepEqual(details?.[seq], (JSON.parse(own) as { details: unknown }).details)
      assert.ok(detailed.includes(own.slice(`{"seq":${seq},"details":`.length, -1)), 'the stored bytes')
    }
  })

  test('has an empty member when no event of the page has details', async () => {
    const page = JSON.parse(await textOf('/api/v1/events?details=1&type=burn')) as EventsPage
    assert.deepEqual([page.details, page.events.length], [{}, 1])
    const none = JSON.parse(await textOf('/api/v1/events?details=1&after=13')) as EventsPage
    assert.deepEqual([none.details, none.events], [{}, []])
  })

  test('is repeated by next and Link', async () => {
    const response = await stage.get('/api/v1/events?details=1&limit=2')
    const { page } = (await response.json()) as EventsPage
    assert.equal(page.next, '/api/v1/events?after=2&limit=2&details=1')
    assert.equal(response.headers.get('link'), `<${page.next}>; rel="next"`)
  })

  test('takes no value but 1', async () => {
    for (const value of ['0', 'true', '', '2']) {
      const { status } = await stage.get(`/api/v1/events?details=${value}`)
      assert.equal(status, 400, value)
    }
  })

  test('is cached apart from the page without it', async () => {
    for (const path of ['/api/v1/events?limit=3', '/api/v1/events?limit=3&details=1']) {
      await textOf(path)
      assert.equal((await textOf(path)).includes('"details":{"2"'), path.includes('details'))
    }
    const tags = await Promise.all(
      ['/api/v1/events?limit=3', '/api/v1/events?limit=3&details=1'].map(
        async (path) => (await stage.get(path)).headers.get('etag') ?? '',
      ),
    )
    assert.notEqual(tags[0], tags[1])
  })

  test('is a last column of CSV: JSON in quotes, empty without details, whole and in pages', async () => {
    const json = /"details":(.*)\}$/.exec(detailsOf(2))?.[1] ?? ''
    for (const path of ['format=csv', 'format=csv&limit=10000']) {
      const rows = (await textOf(`/api/v1/events?details=1&${path}`)).split('\r\n')
      assert.equal(rows[0], 'seq,type,kind,at,atMs,contestId,kots,tx,details')
      assert.match(rows[1] ?? '', /^1,treasury,.*,1000\.000000000,,$/)
      assert.ok(rows[2]?.endsWith(`,1,,,"${json.replaceAll('"', '""')}"`), path)
      assert.equal(rows.length, 15)
    }
  })

  test('ends a page before its bytes exceed the limit, and every event comes once', async () => {
    await using long = await openApiStage({
      story: Array.from({ length: 7_000 }, (_, index): StoryEvent => {
        const planned = plan(index + 1, '"'.repeat(200), 3_600_000)
        return planned
      }),
    })
    const seqs: number[] = []
    let path: string | null = '/api/v1/events?details=1&limit=10000'
    let pages = 0
    while (path !== null) {
      const response: Response = await long.get(path)
      const text = await response.text()
      assert.ok(text.length <= DETAILED_PAGE_BYTES_MAX + 1_000, `${text.length}`)
      const { events, details, page } = JSON.parse(text) as EventsPage
      assert.deepEqual(
        Object.keys(details ?? {}).map(Number),
        events.map(({ seq }) => seq),
      )
      assert.equal(page.scannedTo, events.at(-1)?.seq)
      seqs.push(...events.map(({ seq }) => seq))
      pages += 1
      path = page.next
    }
    assert.equal(pages, 2)
    assert.deepEqual(
      seqs,
      Array.from({ length: 7_000 }, (_, index) => index + 1),
    )
    // A whole CSV has no such limit.
    const csv = await (await long.get('/api/v1/events?details=1&format=csv')).text()
    assert.equal(csv.split('\r\n').length, 7_002)
  })
})
