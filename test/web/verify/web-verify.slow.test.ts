import assert from 'node:assert/strict'
import { createHash, sign } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { keepWitnessed } from '../../../src/log/witnessed/witnessed-file.ts'
import { DAY_MS, msOf, parseMonth } from '../../../src/protocol/moment.ts'
import type { LogKeys } from '../../../src/protocol/endpoints/file-endpoints.ts'
import { formatNote, formatVkey, signText, verifierKey } from '../../../src/tlog/note.ts'
import { parseExplorer } from '../../../src/web/markup/site.ts'
import { VERIFIER_BYTES_MAX } from '../../../src/web/pages/verify/verifier.ts'
import { assertNoSidewaysScroll, assertThemesSound, NARROW } from '../../stage/browser.ts'
import { openPageStage, type PageStage } from '../../stage/page-stage.ts'
import { API_STORY } from '../../story/api-story.ts'
import { OTHER_KEY } from '../../story/signing.ts'
import { cosignedState, WITNESSES } from '../../story/witnesses.ts'
import { altered, check, choose, replaced, savedVerifier, stepsOn, verdictOn } from './verifier-page.ts'

const ORIGIN = 'daybook.test/api'
/** The payout of the stage's story, and its first month, which is closed. */
const PAYOUT = '10'
const MONTH = '2026-10'
const FILE = 'who played, and how much\n'
const DIGEST = `sha256:${createHash('sha256').update(FILE).digest('hex')}`
const PROVED = ['verified signature', 'not checked consistency', 'verified event'] as const
/** An `http:` origin that is not loopback, where browsers have no `crypto.subtle`. */
const PLAIN = 'http://data.example'

let pages: PageStage
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verify-'))
  const explorers = ['https://one.example/tx/{tx}', 'https://two.example/?id={tx}'].flatMap(
    (template) => parseExplorer(template) ?? [],
  )
  const month = parseMonth('2026-09') ?? assert.fail()
  const file = {
    type: 'loyalty',
    kind: 'input',
    details: { month, digest: DIGEST, bytes: FILE.length },
  } as const
  pages = await openPageStage({
    site: { explorers, contact: 'mailto:operator@one.example' },
    story: [...API_STORY, file],
    apartMs: 3 * DAY_MS,
  })
  // The browser's clock judges what can be paid now.
  pages.api.setNow(msOf(Date.now()))
})
after(async () => {
  await pages[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const newest = async (): Promise<string> => (await pages.api.get('/api/v1/log/checkpoint')).text()

suite('the form', () => {
  test('proves an event, and links explorers of its transaction', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    assert.deepEqual(await check(page, 'event', PAYOUT), PROVED)
    assert.equal(await verdictOn(page), `Event ${PAYOUT} is in the signed log.`)
    const links = await page.locator('[data-verify] ol a').evaluateAll((all) => all.map(String))
    assert.deepEqual(links, [
      'https://one.example/tx/transaction-0001',
      'https://two.example/?id=transaction-0001',
    ])
    assert.deepEqual(sight.wrong, [])
  })

  test('checks a receipt as soon as its link is followed, with the result on a phone’s screen', async () => {
    await using sight = await pages.see(`/events/${PAYOUT}`, { viewport: NARROW })
    const { page } = sight
    await page.getByRole('link', { name: 'Check this receipt' }).click()
    await page.getByText(`Event ${PAYOUT} is in the signed log.`, { exact: true }).waitFor()
    const verdict = await page.locator('[data-verify] output').boundingBox()
    assert.ok(
      verdict !== null && verdict.y > 0 && verdict.y + verdict.height < NARROW.height,
      `${verdict?.y}`,
    )
    // Another check is far below its result, which comes into view.
    assert.equal((await check(page, 'month', MONTH)).at(-1), 'verified month')
    const other = await page.locator('[data-verify] output').boundingBox()
    assert.ok(other !== null && other.y >= 0 && other.y < NARROW.height, `${other?.y}`)
    assert.deepEqual(sight.wrong, [])
  })

  const lies: readonly (readonly [
    what: string,
    at: string,
    lie: (route: Route) => Promise<void>,
    steps: RegExp,
  ])[] = [
    ['event', `**/events/${PAYOUT}`, replaced('15.000000000', '16.000000000'), /failed event/],
    ['proof', '**/log/tile/0/**', altered((tile) => Buffer.from(tile).fill(7, 0, 32)), /failed event/],
    [
      'signature',
      '**/log/checkpoint',
      replaced(/(— \S+ .{20})..../, '$1AAAA'),
      /failed signature.*not checked event/,
    ],
  ]
  for (const [what, at, lie, steps] of lies) {
    test(`finds an altered ${what}`, async () => {
      await using sight = await pages.see('/verify')
      await sight.page.route(at, lie)
      assert.match((await check(sight.page, 'event', PAYOUT)).join(), steps)
      assert.equal(await verdictOn(sight.page), 'Something is wrong.')
    })
  }

  test('uses only the key that the reader gives', async () => {
    const { keys } = (await (await pages.api.get('/api/v1/log/keys')).json()) as LogKeys
    const vkey = keys[0]?.vkey ?? assert.fail()
    await using sight = await pages.see('/verify')
    const { page } = sight
    await page.locator('details summary').filter({ hasText: 'of your own' }).click()
    await page.locator('[name=vkey]').fill(vkey)
    assert.deepEqual(await check(page, 'event'), PROVED)
    assert.match(await stepsOn(page), /the key that you gave/)
    const name = 'other.test/log'
    await page.locator('[name=vkey]').fill(formatVkey(otherKey(name)))
    assert.deepEqual(await check(page, 'event'), [
      'failed signature',
      'not checked consistency',
      'not checked event',
    ])
    await page.locator('[name=vkey]').fill(`${vkey}A`)
    assert.match((await check(page, 'event')).join(), /not checked the key that you gave is no key of a log/)
    assert.equal(await verdictOn(page), 'Nothing is verified.')
  })

  test('proves a closed month, a file of a loyalty run and a saved proof', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    assert.equal((await check(page, 'month', MONTH)).at(-1), 'verified month')
    assert.equal(await verdictOn(page), `Nothing of ${MONTH} is left out.`)
    await choose(page, FILE)
    assert.equal((await check(page, 'file')).at(-1), 'verified file')
    assert.match(await stepsOn(page), /names it as the input of 2026-09/)
    await choose(page, 'another file')
    assert.equal((await check(page, 'file')).at(-1), 'failed file')
    const proof = await (await pages.api.get('/api/v1/log/proof/3')).text()
    await choose(page, proof)
    assert.equal((await check(page, 'file')).at(-1), 'verified proof')
    await choose(page, proof.replace('index 2', 'index 3'))
    assert.equal((await check(page, 'file')).at(-1), 'failed proof')
  })

  test('recomputes every figure, and finds a false one', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    const steps = await check(page, 'log')
    assert.deepEqual(
      steps.filter((step) => !step.startsWith('verified ')),
      ['not checked consistency'],
    )
    assert.equal(await verdictOn(page), 'Every published figure follows from the signed events.')
    await page.route('**/api/v1/summary', replaced('"burned":"1.', '"burned":"2.'))
    assert.deepEqual(
      (await check(page, 'log')).filter((step) => step.startsWith('failed')),
      ['failed summary'],
    )
    assert.match(await stepsOn(page), /summary: burned is not what the log says/)
  })

  test('can be stopped', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    await page.route('**/api/v1/summary', () => undefined)
    await page.locator('[value=log]').check()
    await page.locator('[data-verify] .main').click()
    await page.locator('[data-verify] button', { hasText: 'Stop' }).click()
    assert.equal(await verdictOn(page), 'Stopped. Nothing is verified.')
    await page.unrouteAll()
    assert.deepEqual(await check(page, 'event', '1'), PROVED)
  })

  test('fails nothing when its worker does not come', async () => {
    await using sight = await pages.see('/verify')
    await sight.page.route('**/assets/verify-worker.*', (route) => route.abort())
    assert.match((await check(sight.page, 'growth')).join(), /not checked .* could not be loaded/)
  })

  test('works on a page without https', async () => {
    await using sight = await pages.browser.see('about:blank')
    const { page } = sight
    await page.route(`${PLAIN}/**`, async (route) => {
      const url = pages.urlOf(route.request().url().slice(PLAIN.length))
      await route.fulfill({ response: await route.fetch({ url }) })
    })
    await page.goto(`${PLAIN}/verify`)
    assert.equal(await page.evaluate(() => isSecureContext), false)
    assert.deepEqual(await check(page, 'event', PAYOUT), PROVED)
  })

  test('is accessible with its steps shown, in both themes, and fits a phone', async () => {
    await using sight = await pages.see('/verify', { bypassCSP: true, viewport: NARROW })
    const { page } = sight
    await page.locator('details summary').filter({ hasText: 'of your own' }).click()
    await check(page, 'event')
    await assertThemesSound(page)
    await page.setViewportSize({ width: 320, height: 640 })
    await assertNoSidewaysScroll(page)
  })
})

suite('the log since the last visit', () => {
  test('only grew, or is found out', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    assert.deepEqual(await check(page, 'growth'), ['verified signature', 'not checked consistency'])
    assert.equal(await verdictOn(page), 'First visit: the state is saved.')
    pages.api.trade(3)
    assert.deepEqual(await check(page, 'growth'), ['verified signature', 'verified consistency'])
    assert.equal(await verdictOn(page), 'The log only grew.')
    assert.match(await stepsOn(page), /your visit on \d{4}-\d\d-\d\d/)
    const kept = (await keptOf(page)) ?? assert.fail()
    for (const [from, to] of [
      [/\\n\d+\\n..../, (found: string) => `${found.slice(0, -4)}AAAA`],
      [/\\n\d+\\n/, () => String.raw`\n9999\n`],
    ] as const) {
      await keep(page, kept.replace(from, to))
      assert.deepEqual(await check(page, 'growth'), ['verified signature', 'failed consistency'])
      assert.notEqual(await keptOf(page), kept)
    }
    const ofOther = kept.replaceAll(ORIGIN, 'other.test/log').replace(pages.urlOf(''), 'https://other.test')
    for (const text of ['', '{}', 'true', '{bad', kept.replace('"vkeys"', '"x"'), ofOther]) {
      await keep(page, text)
      assert.deepEqual(await check(page, 'growth'), ['verified signature', 'not checked consistency'])
      assert.equal(await verdictOn(page), 'First visit: the state is saved.')
    }
  })

  for (const origin of ['other.test/log', ORIGIN]) {
    test(`is another log with another key, named ${origin}, and the visit is kept`, async () => {
      await using sight = await pages.see('/verify')
      const { page } = sight
      await check(page, 'growth')
      const kept = await keptOf(page)
      await showOther(page, origin)
      assert.match((await check(page, 'growth')).join(), /failed/)
      assert.equal(await keptOf(page), kept)
      await page.unrouteAll()
      assert.deepEqual(await check(page, 'growth'), ['verified signature', 'verified consistency'])
    })
  }

  test('cannot be compared in a browser without storage, which fails nothing', async () => {
    await using sight = await pages.see('/verify')
    await sight.page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new Error('Access is denied')
        },
      })
    })
    await sight.page.reload()
    await check(sight.page, 'growth')
    assert.equal(await verdictOn(sight.page), 'Not all is verified.')
    assert.match(await stepsOn(sight.page), /This browser stores nothing/)
  })
})

suite('the witnesses of the reader', () => {
  const vkeys = WITNESSES.map(({ key }) => formatVkey(key)).join('\n')
  const cosign = async (agoMs: number, by = WITNESSES): Promise<void> => {
    const timeSeconds = Math.floor((Date.now() - agoMs) / 1_000)
    keepWitnessed(pages.api.data, cosignedState(await newest(), { by, timeSeconds }))
  }
  const give = async (page: Page, keys: string, quorum = ''): Promise<void> => {
    await page.locator('details summary').filter({ hasText: 'of your own' }).click()
    await page.locator('[name=witnesses]').fill(keys)
    await page.locator('[name=quorum]').fill(quorum)
  }

  test('vouch for the log, and for a proof', async () => {
    await cosign(60_000)
    await using sight = await pages.see('/verify')
    const { page } = sight
    await give(page, vkeys)
    assert.equal((await check(page, 'growth')).at(-1), 'verified witnesses')
    assert.match(
      await stepsOn(page),
      /3 of 3 witnesses vouch for [^]*Vouched for: others .* unless 1 witness has/,
    )
    await choose(page, await (await pages.api.get('/api/v1/log/proof/3?checkpoint=witnessed')).text())
    assert.equal((await check(page, 'file')).at(-1), 'verified proof')
    assert.match(await stepsOn(page), /signed by witness\.example\/one, witness\.example\/two/)
    await cosign(2 * DAY_MS)
    assert.equal((await check(page, 'growth')).at(-1), 'failed witnesses')
    assert.match(await stepsOn(page), /FROZEN/)
  })

  test('must be keys of witnesses, and no fewer than the quorum', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    await give(page, 'no key')
    assert.match((await check(page, 'growth')).join(), /not checked key 1 of those/)
    await page.locator('[name=witnesses]').fill(vkeys)
    await page.locator('[name=quorum]').fill('4')
    assert.match(
      (await check(page, 'growth')).join(),
      /not checked the number that must vouch is from 1 to 3/,
    )
  })

  test('are listed by the log without a script', async () => {
    await cosign(60_000, WITNESSES.slice(0, 2))
    await using sight = await pages.see('/verify', { javaScriptEnabled: false })
    const said = await sight.page.locator('aside').innerText()
    assert.match(said, /2 of 3 witnesses vouch for \d+ events, as of/)
    assert.match(said, /witness\.example\/three does not answer/)
  })
})

suite('the page', () => {
  test('offers only the commands without a script', async () => {
    await using sight = await pages.see('/verify', { javaScriptEnabled: false })
    const { page } = sight
    assert.equal(await page.locator('[data-verify]').isVisible(), false)
    await page.locator('main a[href="#by-command"]').click()
    const words = await page.locator('#by-command ~ .code pre').first().innerText()
    assert.match(
      words,
      new RegExp(`^echo '\\S+' > vkey\nnpm run -s daybook -- verify ${pages.urlOf('')} --key`),
    )
    assert.ok(await page.locator('main a[href="mailto:operator@one.example"]').isVisible())
  })
})

suite('the saved verifier', () => {
  test('is one file in the style of the site, and checks the log from a disk', async () => {
    const answer = await fetch(pages.urlOf('/verify/daybook-verify.html'))
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /attachment; filename="daybook-verify.html"/,
    )
    const file = await answer.text()
    assert.ok(Buffer.byteLength(file) <= VERIFIER_BYTES_MAX, `${Buffer.byteLength(file)} bytes`)
    assert.doesNotMatch(file, /(?:src|href)="/)
    const style = /"(\/assets\/style\.[0-9a-f]+\.css)"/.exec(await (await pages.api.get('/verify')).text())
    const served = await (await pages.api.get(style?.[1] ?? '')).text()
    assert.ok(file.includes(served.replace(/@font-face\{[^}]*\}/, '').trim()))

    await using sight = await pages.browser.see(await savedVerifier(pages.urlOf(''), folder))
    const { page } = sight
    assert.equal(await page.locator('[name=base]').inputValue(), pages.urlOf(''))
    assert.deepEqual(await check(page, 'event', PAYOUT), PROVED)
    assert.deepEqual(await check(page, 'growth'), ['verified signature', 'verified consistency'])
    assert.equal((await check(page, 'month', MONTH)).at(-1), 'verified month')
    await check(page, 'log')
    assert.equal(await verdictOn(page), 'Every published figure follows from the signed events.')
    await page.route(`**/events/${PAYOUT}`, replaced('15.000000000', '16.000000000'))
    assert.equal((await check(page, 'event')).at(-1), 'failed event')
    await page.setViewportSize({ width: 320, height: 640 })
    await assertNoSidewaysScroll(page)
    assert.deepEqual(
      sight.wrong.filter((line) => !line.startsWith(pages.urlOf('/api/v1/'))),
      [],
    )
  })

  test('asks nothing before a check, and nothing without the address of a log', async () => {
    await using sight = await pages.browser.see(await savedVerifier(pages.urlOf(''), folder))
    const { page } = sight
    for (const address of ['', 'ftp://one.example', `${pages.urlOf('')}/path`]) {
      await page.locator('[name=base]').fill(address)
      assert.match((await check(page, 'growth')).join(), /not checked the address of the log is no http/)
    }
    assert.deepEqual(sight.wrong, [])
  })
})

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const otherKey = (origin: string): ReturnType<typeof verifierKey> =>
  verifierKey(sha256, origin, 'ed25519', OTHER_KEY.publicKey)

/** Shows the present tree as that of a log of this name with another key. */
async function showOther(page: Page, origin: string): Promise<void> {
  const [, size = '', root = ''] = (await newest()).split('\n')
  const text = `${origin}\n${size}\n${root}\n`
  const key = otherKey(origin)
  const signature = signText(key, (message) => sign(null, message, OTHER_KEY.privateKey), text)
  const body = formatNote({ text, signatures: [signature] })
  const served = (await (await pages.api.get('/api/v1/log/keys')).json()) as LogKeys
  const keys = [{ vkey: formatVkey(key), state: 'signing', fromSize: 1, toSize: null, statement: null }]
  await page.route('**/log/checkpoint', (route) => route.fulfill({ body }))
  await page.route('**/log/keys', (route) => route.fulfill({ json: { ...served, origin, keys } }))
}

const keptOf = (page: Page): Promise<string | null> =>
  page.evaluate((name) => localStorage.getItem(name), `daybook-visit ${ORIGIN}`)
const keep = (page: Page, text: string): Promise<void> =>
  page.evaluate(([name, what]) => localStorage.setItem(name, what), [
    `daybook-visit ${ORIGIN}`,
    text,
  ] as const)

/** The page's global objects, for scripts that run in the page. */
declare const isSecureContext: boolean
declare const localStorage: Readonly<{
  getItem(name: string): string | null
  setItem(name: string, text: string): void
}>
