import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { countPixels, decodePng } from './png.ts'
import { plain } from '../web/parity/page-tree.ts'
import { linesOf } from './picture-lines.ts'

const PAPER = [0xfb, 0xfa, 0xf6] as const
const INK = [0x17, 0x20, 0x2b] as const

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

/** Pictures of the four kinds of pages, each with the answers that it shows. */
const PICTURES: readonly (readonly [path: string, answers: readonly string[]])[] = [
  ['/summary.png', ['/summary']],
  ['/summary.png?at=2026-10-01T00:05Z', ['/summary?at=2026-10-01T00:05Z']],
  ['/contests/1/ledger.png', ['/contests/1/ledger', '/payouts?contestId=1']],
  ['/contests/2/ledger.png', ['/contests/2/ledger']],
  ['/events/10.png', ['/events/10', '/contests/1']],
  ['/events/1.png', ['/events/1']],
  ['/flows.png', ['/flows']],
  ['/flows.png?from=2026-10-01', ['/flows?from=2026-10-01']],
  ['/flows.png?from=2026-09-01&to=2026-10-01', ['/flows?from=2026-09-01&to=2026-10-01']],
]

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Every form in which a picture may show a value of an answer. Written without the code of pictures. */
function formsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(formsOf)
  if (value !== null && typeof value === 'object') return Object.values(value).flatMap(formsOf)
  if (typeof value === 'number') return [value.toLocaleString('en')]
  if (typeof value !== 'string') return []
  const at = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/.exec(value)
  if (at !== null) {
    const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] = at
    const last = new Date(Date.parse(value) - 1)
    return [year, MONTHS[Number(month) - 1] ?? '', String(Number(day)), hour, minute, second].concat(
      // The last day of a range whose end is exclusive.
      String(last.getUTCDate()),
      MONTHS[last.getUTCMonth()] ?? '',
    )
  }
  const [, whole = '', decimals = ''] = /^(\d+)\.(\d{9})$/.exec(value) ?? []
  if (whole === '') return value.match(/\d+/g) ?? []
  const grouped = BigInt(whole).toLocaleString('en')
  const millions = `${BigInt(whole.slice(0, -6) || '0').toLocaleString('en')}.${whole.slice(-6, -4)}`
  return [grouped, decimals, `${grouped}.${decimals}`, `${whole}.${decimals.slice(0, 2)}`, millions, '0']
}

const numbersIn = (text: string): readonly string[] =>
  (text.match(/\d[\d,]*(?:\.\d+)?/g) ?? []).map((one) => one.replace(/,$/, ''))

suite('the picture of a link preview', () => {
  for (const [path, answers] of PICTURES) {
    test(`${path} is a PNG of 1200 × 630 with words on paper`, async () => {
      const response = await stage.get(path)
      assert.equal(response.headers.get('content-type'), 'image/png')
      assert.equal(response.headers.get('access-control-allow-origin'), '*')
      assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
      assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      const pixels = decodePng(await response.bytes())
      assert.deepEqual([pixels.width, pixels.height], [1200, 630])
      assert.ok(countPixels(pixels, [0, 0, 1200, 630], PAPER) > 300_000, 'paper')
      assert.ok(countPixels(pixels, [72, 36, 240, 86], INK) > 800, 'the name of the site')
      assert.ok(countPixels(pixels, [72, 150, 1128, 460], INK) > 3_000, 'the headline')
      assert.ok(countPixels(pixels, [0, 96, 1200, 105], INK) > 4_000, 'the double rule')
    })

    test(`${path} shows no figure that the answers lack`, async () => {
      await using fresh = await openApiStage()
      const lines = await linesOf(path, fresh)
      const json = await Promise.all(answers.map(async (one) => (await fresh.get(`/api/v1${one}`)).json()))
      const known = new Set([...formsOf(json), ...numbersIn(path)])
      const host = `127.0.0.1:${fresh.port}`
      const told = lines.filter((line) => line !== host && !line.endsWith('% is paid'))
      const lies = told.map((line) => line.replace(/\d/, (digit) => String((Number(digit) + 7) % 10)))
      assert.ok(
        lies.some((line) => numbersIn(line).some((one) => !known.has(one))),
        'a changed digit is found',
      )
      for (const line of told)
        for (const one of numbersIn(line)) assert.ok(known.has(one), `${one} of ${line}`)
      assert.ok(lines.includes(host))
      assert.ok(lines.includes('This platform is simulated. No real money is involved.'))
    })
  }

  const said: readonly (readonly [path: string, lines: readonly string[]])[] = [
    [
      '/summary.png',
      ['Daybook', 'The only closed contest is not yet settled', '12.75', '1 Oct 2026, 00:12 UTC'],
    ],
    ['/contests/1/ledger.png', ['First', '15 % is paid', 'Paid', '15.00', 'To be claimed', 'Payable']],
    [
      '/contests/2/ledger.png',
      ['Contest 2', 'Not open yet', 'Planned from 6 Oct 2026, 00:00 UTC to 7 Oct 2026, 00:00 UTC.'],
    ],
    [
      '/events/10.png',
      ['No. 10', 'Receipt of a payment', '15.000000000 KOTS', 'A voter', 'First (contest 1)'],
    ],
    ['/flows.png?from=2026-10-01', ['October 2026 so far', '15.00 KOTS paid in prizes']],
    ['/flows.png?from=2026-09-01&to=2026-10-01', ['September 2026', '0 KOTS paid in prizes']],
  ]
  for (const [path, lines] of said) {
    test(`${path} says ${lines[1]}`, async () => {
      await using fresh = await openApiStage()
      const shown = await linesOf(path, fresh)
      for (const line of lines) assert.ok(shown.join(' ').includes(line), `${line} in ${shown.join(' | ')}`)
    })
  }

  test('is named by its page with its absolute address', async () => {
    await using named = await openApiStage({ site: { url: 'https://book.example' } })
    const addresses: readonly (readonly [page: string, picture: string])[] = [
      ['/', '/summary?at=2026-10-01T00:12:00.000Z'],
      ['/contests/1/ledger', '/contests/1/ledger'],
      ['/events/10', '/events/10'],
      [
        '/flows?from=2026-10-01&to=2026-10-02',
        '/flows?from=2026-10-01T00:00:00.000Z&to=2026-10-02T00:00:00.000Z',
      ],
      ['/about', '/summary'],
      ['/nowhere', '/summary'],
    ]
    for (const [page, picture] of addresses) {
      const text = await (await named.get(page)).text()
      const shown = plain(/property="og:image" content="([^"]*)"/.exec(text)?.[1] ?? '')
      const [path, query] = picture.split('?')
      const start = `https://book.example${path}.png${query === undefined ? '' : `?${query}`}`
      assert.ok(shown.startsWith(start), `${shown} of ${page}`)
      const drawn = await named.get(shown.slice('https://book.example'.length))
      assert.equal(drawn.headers.get('content-type'), 'image/png')
      assert.match(text, /property="og:image:width" content="1200"/)
    }
  })

  test('answers HEAD, and 304 to its ETag without drawing', async () => {
    const first = await stage.get('/events/7.png')
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
    const forEver = 'public, max-age=31536000, immutable'
    assert.equal(await caching('/flows.png?from=2026-09-01&to=2026-09-30'), forEver)
    assert.equal(await caching('/summary.png?at=2026-10-01T00:05Z'), forEver)
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
    ['/nowhere.png', 404],
  ] as const) {
    test(`${path} is refused as JSON with ${status}`, async () => {
      const response = await stage.get(path)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    })
  }
})

suite('the picture of an event', () => {
  test('says that a later event corrected it, and has another ETag then', async () => {
    await using told = await openApiStage({
      story: [
        { type: 'treasury', kind: 'deposit', kots: '100' },
        { type: 'burn', kind: 'platform_income', kots: '7' },
      ],
    })
    const first = await told.get('/events/2.png')
    assert.ok(!(await linesOf('/events/2.png', told)).some((line) => line.startsWith('Corrected')))
    told.append([{ type: 'correction', kind: 'burn', kots: '-7', details: { corrects: 2 as never } }])
    const corrected = await told.get('/events/2.png')
    assert.notEqual(corrected.headers.get('etag'), first.headers.get('etag'))
    assert.ok(
      (await linesOf('/events/2.png', told)).includes('Corrected by event 3: this amount no longer counts.'),
    )
    assert.match(told.drawn.at(-1) ?? '', /text-decoration="line-through"/)
    const [line = ''] = (await linesOf('/events/3.png', told)).filter((one) => one.includes('KOTS'))
    assert.equal(line, '-7.000000000 KOTS')
  })
})

suite('the picture of the summary', () => {
  test('of an empty log says that nothing is published', async () => {
    await using empty = await openApiStage({ story: [] })
    assert.ok((await linesOf('/summary.png', empty)).includes('Nothing is published yet'))
    assert.equal((await empty.get('/flows.png')).status, 200)
  })
})
