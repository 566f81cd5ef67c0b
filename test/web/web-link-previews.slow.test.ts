import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { plan, type StoryEvent } from '../story/api-story.ts'
import { plain } from './parity/page-tree.ts'
import { parseAnswer, tokensIn, tokensOf } from './parity/page-words.ts'
import { sourcesOf } from './parity/parity.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

/** Headline, figure and date of a picture, from the SVG that the stage drew last. */
async function linesOf(path: string, from: ApiStage): Promise<readonly string[]> {
  const response = await from.get(path)
  assert.equal(response.headers.get('content-type'), 'image/png', path)
  const svg = from.drawn.at(-1) ?? ''
  const lines = [...svg.matchAll(/<text\b[^>]*>([^]*?)<\/text/g)].map(([, text = '']) =>
    plain(text).replaceAll('\u00A0', ' ').trim(),
  )
  assert.equal(lines.shift(), 'Daybook')
  assert.equal(lines.shift(), 'This platform is simulated. No real money is involved.')
  assert.equal(lines.pop(), `127.0.0.1:${from.port}`)
  return lines
}

/** The same where every picture has been drawn before. */
async function freshLinesOf(path: string, story?: readonly StoryEvent[]): Promise<readonly string[]> {
  await using fresh = await openApiStage(story === undefined ? {} : { story })
  return await linesOf(path, fresh)
}

suite('the picture of a link preview', () => {
  const pictures: readonly (readonly [path: string, lines: readonly string[]])[] = [
    [
      '/summary.png',
      [
        'The only closed contest is not yet settled',
        '85.00 KOTS of prizes still wait',
        '1 Oct 2026, 00:12 UTC',
      ],
    ],
    [
      '/summary.png?at=2026-10-01T00:05Z',
      ['1 contest is running, none has closed yet', '0 KOTS paid in prizes', '1 Oct 2026, 00:05 UTC'],
    ],
    ['/contests/1/ledger.png', ['Contest 1: First', '15% is paid', '1 Oct 2026, 00:12 UTC']],
    ['/contests/2/ledger.png', ['Contest 2', 'Opens 6 Oct 2026 00:00 UTC', '1 Oct 2026, 00:12 UTC']],
    ['/events/10.png', ['Receipt of a payment, No. 10', '15.000000000 KOTS', '1 Oct 2026, 00:09 UTC']],
    ['/events/2.png', ['Record of a contest, No. 2', 'Contest planned', '1 Oct 2026, 00:01 UTC']],
    [
      '/flows.png?from=2026-10-01',
      ['October 2026 so far', '15.00 KOTS paid in prizes', '1 Oct 2026, 00:12 UTC'],
    ],
    [
      '/flows.png?from=2026-09-01&to=2026-10-01',
      ['September 2026', '0 KOTS paid in prizes', '1 Oct 2026, 00:00 UTC'],
    ],
  ]
  for (const [path, lines] of pictures) {
    test(`${path} says “${lines[1]}”`, async () => {
      assert.equal((await freshLinesOf(path)).join(' '), lines.join(' '))
    })

    test(`${path} shows no figure that its page and its answers lack`, async () => {
      const page = await (await stage.get(path.replace('.png', ''))).text()
      const answers = sourcesOf(page).map(async (source) =>
        parseAnswer(await (await stage.get(source)).text()),
      )
      const known = new Set([
        ...tokensOf(await Promise.all(answers)),
        ...tokensIn(plain(page.replaceAll(/<[^>]*>/g, ' '))),
      ])
      const drawn = await freshLinesOf(path)
      const shown = drawn.flatMap((line) => tokensIn(line.replaceAll(/(?<=\d),(?=\d{3})/g, '')))
      assert.ok(shown.length > 0)
      for (const token of shown) assert.ok(known.has(token), `${token} of ${path}`)
    })
  }

  test('of a contest says what its page says, and has its title only in letters of the font', async () => {
    for (const [title, headline] of [
      ['Конкурс «Осень»', 'Contest 1: Конкурс «Осень»'],
      ['Party 🎉 of <b>Tom & Jerry</b>', 'Contest 1: Party of <b>Tom & Jerry</b>'],
      ['مسابقة الصور', 'Contest 1'],
      ['写真コンテスト', 'Contest 1'],
    ] as const) {
      const story: readonly StoryEvent[] = [
        plan(1, title, HOUR_MS),
        { type: 'contest', kind: 'cancelled', contestId: 1 },
      ]
      assert.deepEqual((await freshLinesOf('/contests/1/ledger.png', story)).slice(0, 2), [
        headline,
        'Cancelled',
      ])
    }
  })

  test('of an event says that a later event cancelled it, and has another ETag then', async () => {
    await using told = await openApiStage({
      story: [
        { type: 'treasury', kind: 'deposit', kots: '100' },
        { type: 'burn', kind: 'platform_income', kots: '7' },
      ],
    })
    const first = await told.get('/events/2.png')
    told.append([{ type: 'correction', kind: 'burn', kots: '-7', details: { corrects: seqOf(2) } }])
    assert.match(
      (await linesOf('/events/2.png', told)).join(' '),
      /^Record of a burn, No\. 2, cancelled by event 3 7\.000000000 KOTS /,
    )
    assert.notEqual((await told.get('/events/2.png')).headers.get('etag'), first.headers.get('etag'))
    assert.equal((await linesOf('/events/3.png', told))[1], '-7.000000000 KOTS')
  })

  test('of an empty log says that nothing is published', async () => {
    await using empty = await openApiStage({ story: [] })
    assert.equal((await linesOf('/summary.png', empty)).at(-1), 'Nothing is published yet')
    assert.equal((await empty.get('/flows.png')).status, 200)
  })

  test('is named by its page with its absolute address', async () => {
    await using named = await openApiStage({ site: { url: 'https://book.example' } })
    for (const [page, picture] of [
      ['/', '/summary.png?at=2026-10-01T00:12:00.000Z'],
      ['/contests/1/ledger', '/contests/1/ledger.png'],
      ['/events/10', '/events/10.png'],
      [
        '/flows?from=2026-10-01&to=2026-10-02',
        '/flows.png?from=2026-10-01T00:00:00.000Z&to=2026-10-02T00:00',
      ],
      ['/about', '/summary.png'],
      ['/nowhere', '/summary.png'],
    ] as const) {
      const text = await (await named.get(page)).text()
      const shown = plain(/property="og:image" content="([^"]*)"/.exec(text)?.[1] ?? '')
      assert.ok(shown.startsWith(`https://book.example${picture}`), `${shown} of ${page}`)
      const drawn = await named.get(shown.slice('https://book.example'.length))
      assert.equal(drawn.headers.get('content-type'), 'image/png')
    }
  })

  test('is open to other sites, answers HEAD, and 304 to its ETag without drawing', async () => {
    const first = await stage.get('/events/7.png')
    assert.equal(first.headers.get('access-control-allow-origin'), '*')
    assert.equal(first.headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.match(first.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    const etag = first.headers.get('etag') ?? ''
    const drawn = stage.drawn.length
    const head = await stage.get('/events/7.png', {}, 'HEAD')
    assert.equal(head.headers.get('content-length'), first.headers.get('content-length'))
    assert.equal(head.headers.get('content-encoding'), null)
    assert.equal((await stage.get('/events/7.png', { 'If-None-Match': etag })).status, 304)
    assert.equal(stage.drawn.length, drawn)
  })

  test('of a settled range is immutable, and any other is revalidated', async () => {
    const caching = async (path: string): Promise<string | null> =>
      (await stage.get(path)).headers.get('cache-control')
    for (const path of ['/flows.png?from=2026-09-01&to=2026-09-30', '/summary.png?at=2026-10-01T00:05Z']) {
      assert.equal(await caching(path), 'public, max-age=31536000, immutable', path)
    }
    // An event never changes, but a later one may correct it.
    for (const path of ['/events/10.png', '/contests/1/ledger.png', '/flows.png', '/summary.png']) {
      assert.equal(await caching(path), 'public, max-age=0, must-revalidate', path)
    }
  })

  for (const [path, status] of [
    ['/events/999.png', 404],
    ['/contests/999/ledger.png', 404],
    ['/flows.png?bucket=year', 400],
    ['/flows.png?theme=dark', 400],
    ['/about.png', 404],
    ['/contests.png', 404],
  ] as const) {
    test(`${path} is refused as JSON with ${status}`, async () => {
      const response = await stage.get(path)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    })
  }
})
