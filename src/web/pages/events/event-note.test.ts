import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { plan, type StoryEvent } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { parseDraftPrice } from '../../../protocol/amount.ts'
import { DAY_MS, HOUR_MS } from '../../../protocol/moment.ts'
import { seqOf } from '../../../protocol/seq.ts'

const price = parseDraftPrice('0.0312') ?? assert.fail()
const later = plan(5, null, DAY_MS)
const STORY: readonly StoryEvent[] = [
  { type: 'treasury', kind: 'deposit', kots: '1000' },
  plan(5, 'Fifth <b>', HOUR_MS),
  { ...later, kind: 'rescheduled' },
  { type: 'price', kind: 'usd', details: { price } },
  { type: 'burn', kind: 'income', kots: '7' },
  { type: 'correction', kind: 'burn', kots: '-7', details: { corrects: seqOf(5), reason: 'Twice' } },
  { type: 'burn', kind: 'income', kots: '6', details: { restates: seqOf(5) } },
]

/** Note of each event that has one. */
const NOTES: Readonly<Record<string, string>> = {
  2: '“Fifth &lt;b&gt;”, opens 1 Oct 2026 01:00:00 UTC, closes 2 Oct 2026 01:00:00 UTC',
  3: 'opens 2 Oct 2026 00:00:00 UTC, closes 3 Oct 2026 00:00:00 UTC',
  4: '0.031200000000 US dollars',
  6: 'cancels 5, reason: “Twice”',
  7: 'replaces 5',
}

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ story: STORY })
})
after(() => stage[Symbol.asyncDispose]())

const pageAt = async (path: string): Promise<string> => (await stage.get(path)).text()

/** Text of the second line of each row, by seq. */
function notesOn(page: string): Readonly<Record<string, string>> {
  const rows = [
    ...page.matchAll(
      /<th scope="row"><a class="seq" href="\/events\/(\d+)"(?:(?!<\/tr>)[^])*?<div class="quiet"[^>]*>([^]*?)<\/div>/g,
    ),
  ]
  return Object.fromEntries(
    rows.map(([, seq, note = '']) => [
      seq,
      note
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ]),
  )
}

const detailedOf = (page: string): readonly string[] =>
  sourcesOf(page).filter((source) => source.startsWith('/api/v1/events?') && source.includes('details=1'))

suite('a table of events', () => {
  for (const path of ['/events', '/events?order=desc', '/events?details=1', '/stream']) {
    test(`on ${path} shows prices, titles, planned times and corrected events`, async () => {
      const page = await pageAt(path)
      assert.deepEqual(notesOn(page), NOTES)
      assert.match(page, /cancels\s*<a class="seq" href="\/events\/5"><data value="5">5<\/data><\/a>/)
      assert.match(page, /“<bdi>Fifth &lt;b&gt;<\/bdi>”/)
    })

    test(`on ${path} links the JSON with the details that it shows`, async () => {
      const page = await pageAt(path)
      assert.equal(detailedOf(page).length, 1)
      assertParity(page, await Promise.all(sourcesOf(page).map(pageAt)))
    })
  }

  const filtered: readonly (readonly [path: string, notes: readonly string[], asks: string])[] = [
    ['/events?type=price', ['4'], '?type=price&after=0&limit=1&details=1'],
    ['/events?after=3&limit=2', ['4'], '?after=3&limit=2&details=1'],
    ['/events?nonzero=1', ['6', '7'], '?nonzero=1&after=0&limit=4&details=1'],
    ['/events?order=desc&before=4&limit=1', ['3'], '?order=desc&before=4&limit=1&details=1'],
    ['/events?order=desc&to=2026-10-01T00:03Z', ['2', '3'], '?order=desc&before=4&limit=3&details=1'],
    ['/events?from=2026-10-01T00:05Z', ['6', '7'], '?after=5&limit=2&details=1'],
  ]
  for (const [path, notes, asks] of filtered) {
    test(`on ${path} shows the details of the same rows`, async () => {
      const page = await pageAt(path)
      assert.deepEqual(Object.keys(notesOn(page)), notes)
      const [asked = ''] = detailedOf(page)
      const names = ['after', 'before', 'limit', 'type', 'nonzero', 'order', 'details']
      const parametersOf = (query: string): readonly string[] => {
        const given = new URLSearchParams(query.slice(query.indexOf('?')))
        return names.map((name) => `${name}=${given.get(name)}`)
      }
      assert.deepEqual(parametersOf(asked), parametersOf(asks))
      assertParity(page, await Promise.all(sourcesOf(page).map(pageAt)))
    })
  }

  test('asks for the details of the rows that it shows only', async () => {
    await using long = await openApiStage({ story: STORY })
    long.trade(200)
    const [asked = ''] = detailedOf(await (await long.get('/events')).text())
    assert.equal(new URLSearchParams(asked.split('?')[1]).get('limit'), '100')
  })

  test('asks for no details without rows', async () => {
    assert.deepEqual(detailedOf(await pageAt('/events?type=expiry')), [])
  })

  test('does not change its CSV', async () => {
    const csv = await pageAt('/events.csv')
    assert.equal(csv, await pageAt('/api/v1/events?format=csv'))
    assert.match(csv, /^seq,type,kind,at,atMs,contestId,kots,tx\r\n/)
    assert.match(
      await pageAt('/events.csv?details=1'),
      /^seq,type,kind,at,atMs,contestId,kots,tx,details\r\n/,
    )
  })
})
