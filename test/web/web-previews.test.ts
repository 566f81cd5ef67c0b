import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { DESCRIPTION_CHARS_MAX } from '../../src/web/markup/page-lead.ts'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { plan } from '../story/api-story.ts'
import { elementsIn, parseMarkup, plain, textIn } from './parity/page-tree.ts'
import { parseAnswer, tokensIn, tokensOf } from './parity/page-words.ts'
import { sourcesOf } from './parity/parity.ts'
import { ADDRESSES, REFUSED } from './parity/web-addresses.ts'

const NAME = 'Book <of> "tests"'

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ site: { name: NAME } })
})
after(() => stage[Symbol.asyncDispose]())

/** Metadata in a page's head for other programs, each once. */
function shownOf(page: string): Readonly<Record<string, string>> {
  const [head = ''] = page.split('</head>')
  const shown: Record<string, string> = {}
  for (const [, name = '', content = ''] of head.matchAll(
    /<meta (?:name|property)="(description|og:[^"]*|twitter:[^"]*)" content="([^"]*)" \/>/g,
  )) {
    assert.ok(!(name in shown), `${name} occurs once`)
    shown[name] = plain(content)
  }
  return shown
}

const pageOf = async (path: string, from = stage): Promise<string> => (await from.get(path)).text()
const describedOn = async (path: string, from = stage): Promise<string> =>
  shownOf(await pageOf(path, from))['description'] ?? ''

const wordsOf = (page: string): string => {
  const main = elementsIn(parseMarkup(/<main[^>]*>[^]*<\/main>/.exec(page)?.[0] ?? '')).at(1)
  return main === undefined ? '' : textIn(main)
}

/** A page whose amounts have only the decimals that a reader sees. */
const withoutHidden = (page: string): string => page.replaceAll(/<i>[^<]*<\/i>/g, '')

suite('the link preview', () => {
  for (const address of [...ADDRESSES, ...REFUSED.map(([path]) => path)]) {
    test(`of ${address} has text of the page, and no other figure`, async () => {
      const page = await pageOf(address)
      const shown = shownOf(page)
      const named = ['description', 'og:type', 'og:site_name', 'og:title', 'og:description']
      // A refusal has no address of its own.
      const listed = ADDRESSES.includes(address) ? [...named, 'og:url'] : named
      const { 'twitter:card': card, ...graph } = shown
      const pictured = Object.entries(graph).filter(([name]) => name.startsWith('og:image'))
      assert.deepEqual(
        pictured.map(([name]) => name),
        ['og:image', 'og:image:type', 'og:image:width', 'og:image:height', 'og:image:alt'],
      )
      assert.match(shown['og:image'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/[^?]*\.png(?:\?|$)/)
      assert.equal(card, 'summary_large_image')
      assert.deepEqual(
        Object.keys(graph).filter((name) => !name.startsWith('og:image')),
        listed,
      )
      assert.equal(shown['og:site_name'], NAME)
      assert.equal(shown['og:type'], 'website')
      const title = plain(/<title>([^<]*)<\/title>/.exec(page)?.[1] ?? '')
      assert.equal(title, `${shown['og:title']} · ${NAME}`)
      const described = shown['description'] ?? ''
      assert.equal(shown['og:description'], described)
      assert.match(described, /^A simulated platform, no real money\. [^\s].{10,}[.…]$/)
      assert.ok(described.length <= DESCRIPTION_CHARS_MAX, described)
      assert.doesNotMatch(described, /[<>\n]|\s\s|undefined|null|NaN/)
      const answers = sourcesOf(page).map(async (source) =>
        parseAnswer(await (await stage.get(source)).text()),
      )
      const said = new Set([
        ...tokensOf(await Promise.all(answers)),
        ...tokensIn(wordsOf(page)),
        ...tokensIn(wordsOf(withoutHidden(page))),
      ])
      for (const token of tokensIn(described)) assert.ok(said.has(token), `${token} of ${described}`)
    })
  }

  const examples: readonly (readonly [path: string, said: string])[] = [
    ['/events/10', 'Contest 1 paid 15.00 KOTS to a voter on 1 Oct 2026 00:09 UTC.'],
    ['/contests/1/ledger', '15% is paid. Can be paid now: voters. To be claimed: the winner.'],
    ['/summary', '12.75 KOTS spent on play, 15.00 KOTS paid in prizes, 85.00 KOTS won and not yet paid'],
    ['/flows?from=2026-10-01&to=2026-10-02&bucket=hour', 'On 1 October 2026 so far players spent 12.75 KOTS'],
    ['/schedule', 'Planned next: Contest 2 opens, at 6 Oct 2026 00:00:00 UTC.'],
    ['/contests?status=upcoming', 'Newest first: Contest 2, to come. Each contest with its pool,'],
    ['/events/999', 'The newest event is 13.'],
  ]
  for (const [path, said] of examples) {
    test(`of ${path} describes the page`, async () => {
      const described = (await describedOn(path)).replace('A simulated platform, no real money. ', '')
      assert.equal(described.slice(0, said.length), said)
    })
  }

  test('of a corrected event begins with the correction', async () => {
    await using corrected = await openApiStage({
      story: [
        { type: 'treasury', kind: 'deposit', kots: '100' },
        { type: 'burn', kind: 'platform_income', kots: '7' },
        { type: 'correction', kind: 'burn', kots: '-7', details: { corrects: 2 as never } },
      ],
    })
    assert.match(
      await describedOn('/events/2', corrected),
      /no real money\. Cancelled by event 3\. Its amount no longer counts\. 7\.00 KOTS of the treasury/,
    )
  })

  test('escapes text by the publisher, and is cut between words', async () => {
    const title = `"><script>&amp; ${'long word '.repeat(15)}`.slice(0, 100).trim()
    await using told = await openApiStage({ story: [plan(1, title, HOUR_MS)] })
    const page = await pageOf('/contests/1/ledger', told)
    assert.equal(shownOf(page)['og:title'], `${title} (contest 1)`)
    assert.doesNotMatch(page, /<script>/)
    const described = await describedOn('/summary', told)
    assert.ok(described.length <= DESCRIPTION_CHARS_MAX)
  })
})
