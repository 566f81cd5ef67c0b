import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Page, Route } from 'playwright-core'
import type { Browser } from './browser.ts'
import { assertNoSidewaysScroll, assertNoViolations, openBrowser } from './browser.ts'
import type { ModelService } from './model-service.ts'
import { openModelService } from './model-service.ts'

const KIB = 1024
const FILE = Buffer.from('who played, and how much\n')
const DIGEST = createHash('sha256').update(FILE).digest('hex')
const EVENTS = 300
const VISIT = 'daybook-visit daybook.test/model'

let service: ModelService
let browser: Browser
let folder: string
let published = 0
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verifier-'))
  service = await openModelService(Date.UTC(2026, 4, 20))
  browser = await openBrowser()
  await trade(EVENTS)
  service.setNow(Date.UTC(2026, 5, 2))
  await publish([
    {
      ref: 'input',
      type: 'loyalty',
      kind: 'input',
      details: { month: '2026-05', digest: `sha256:${DIGEST}`, bytes: FILE.length },
    },
  ])
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function publish(drafts: Parameters<ModelService['publish']>[0]): Promise<void> {
  const answer = await service.publish(drafts, false)
  assert.equal(answer.status, 200, await answer.text())
}

const trade = (count: number): Promise<void> =>
  publish(
    Array.from({ length: count }, () => ({ ref: `v-${++published}`, type: 'trade', kind: 'buy', kots: '1' })),
  )

const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`

/** Runs a check and gives the marks of its steps, once it has ended. */
async function check(page: Page, name: string): Promise<readonly string[]> {
  const form = page.locator(`form[data-check=${name}]`)
  await form.locator('button').click()
  await form.locator('button:not([disabled])').waitFor()
  await form.locator('ol:not([aria-busy]) li').first().waitFor()
  const marks = await form.locator('li b').allInnerTexts()
  return marks.map((mark) => mark.slice(2))
}

const stepsOf = (page: Page, name: string): Promise<string> =>
  page.locator(`form[data-check=${name}] ol`).innerText()

/** Answers as the service does, but for what is changed. */
const altered =
  (change: (body: Buffer) => Buffer) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch()
    await route.fulfill({ response, body: change(await response.body()) })
  }

const replaced = (from: string | RegExp, to: string): ((route: Route) => Promise<void>) =>
  altered((body) => {
    const text = body.toString('utf8')
    assert.notEqual(text.replace(from, to), text)
    return Buffer.from(text.replace(from, to))
  })

const ALL_FOUR = ['done', 'done', 'done'] as const
const STOPPED = ['failed', 'not checked'] as const

suite('the page of checks', () => {
  test('proves an event, up to the signature', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=42'))
    assert.deepEqual(await check(sight.page, 'event'), ALL_FOUR)
    assert.match(
      await stepsOf(sight.page, 'event'),
      /event #42 [^]* signed by the key that the log itself names/,
    )
    assert.deepEqual(sight.wrong, [])
  })

  const lies: readonly (readonly [
    what: string,
    address: string,
    lie: (route: Route) => Promise<void>,
    steps: readonly string[],
  ])[] = [
    ['event', '**/events/42', replaced('1.000000000', '2.000000000'), ['done', ...STOPPED]],
    ['proof', '**/log/proof/42', replaced(/\n[A-Za-z0-9+/]{4}/, '\nAAAA'), ['done', ...STOPPED]],
    ['root', '**/log/proof/42', replaced(/\n\d+\n[A-Za-z0-9+/]{4}/, '\n301\nAAAA'), ['done', ...STOPPED]],
    ['signature', '**/log/proof/42', replaced(/(— \S+ .{20})..../, '$1AAAA'), ['done', 'done', ...STOPPED]],
  ]
  for (const [what, address, lie, steps] of lies) {
    test(`finds out a ${what} that was altered`, async () => {
      await using sight = await browser.see(urlOf('/verify?seq=42'))
      await sight.page.route(address, lie)
      assert.deepEqual(await check(sight.page, 'event'), steps)
    })
  }

  test('never marks a signature as checked that the browser cannot check', async () => {
    await using sight = await browser.see('about:blank')
    await sight.page.addInitScript(() => {
      Object.defineProperty(crypto, 'subtle', { value: undefined })
    })
    await sight.page.goto(urlOf('/verify?seq=42'))
    assert.deepEqual(await check(sight.page, 'event'), ['done', 'done', 'not checked'])
  })

  test('takes the key that the reader gives, and no other', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=42'))
    const keys = (await (await service.get('/api/v1/log/keys')).json()) as { keys: { vkey: string }[] }
    const vkey = keys.keys[0]?.vkey ?? ''
    await sight.page.locator('input[name=vkey]').fill(vkey)
    assert.deepEqual(await check(sight.page, 'event'), ALL_FOUR)
    assert.match(await stepsOf(sight.page, 'event'), /signed by the key that you gave/)
    await sight.page.locator('input[name=vkey]').fill(`${vkey}A`)
    assert.deepEqual(await check(sight.page, 'event'), ['done', 'done', ...STOPPED])
  })

  test('remembers a visit, and proves that the log only grew since', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    assert.deepEqual(await check(page, 'visit'), ['done', 'not checked', 'done'])
    await trade(7)
    assert.deepEqual(await check(page, 'visit'), ['done', 'done', 'done'])
    assert.match(await stepsOf(page, 'visit'), /, and 7 after them/)
    assert.match(
      await stepsOf(page, 'visit'),
      /Unchanged since your visit on \d{4}-\d\d-\d\d: .* and 7 after them/,
    )
    const kept = await page.evaluate<string, string>((name) => localStorage.getItem(name), VISIT)
    const { size, root, date } = JSON.parse(kept) as { size: number; root: string; date: string }
    for (const other of [
      { size, root: `AAAA${root.slice(4)}`, date },
      { size: size + 1, root, date },
      { size: 5, root, date },
    ]) {
      await page.evaluate(([name, text]) => localStorage.setItem(name, text), [
        VISIT,
        JSON.stringify(other),
      ] as const)
      assert.deepEqual(await check(page, 'visit'), ['done', ...STOPPED])
    }
  })

  test('hashes a whole month onto the months before it', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    await page.locator('input[name=month]').fill('2026-05')
    assert.deepEqual(await check(page, 'month'), ['done', 'done', 'done', 'done', 'not checked'])
    await page.route(
      '**/archive/2026-05.jsonl.gz',
      altered((body) => {
        const text = gunzipSync(body).toString('utf8')
        return gzipSync(text.replace('1.000000000', '3.000000000'))
      }),
    )
    assert.deepEqual(await check(page, 'month'), ['done', ...STOPPED])
    await page.unrouteAll()
    await page.route('**/archive/2026-05.json', replaced(/"root":"..../, '"root":"AAAA'))
    assert.deepEqual(await check(page, 'month'), ['done', ...STOPPED])
    await page.unrouteAll()
    await page.locator('input[name=month]').fill('2026-06')
    assert.deepEqual(await check(page, 'month'), STOPPED)
  })

  test('finds the loyalty run of a file by its digest, and none of another', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    const chosen = page.locator('form[data-check=file] input')
    await chosen.setInputFiles({ name: 'input.csv', mimeType: 'text/csv', buffer: FILE })
    assert.deepEqual(await check(page, 'file'), ['done', 'done'])
    assert.match(await stepsOf(page, 'file'), /the input of 2026-05/)
    await chosen.setInputFiles({ name: 'other.csv', mimeType: 'text/csv', buffer: Buffer.from('other') })
    assert.deepEqual(await check(page, 'file'), ['done', 'failed'])
  })

  test('is open to everyone with its steps shown', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=42'), { bypassCSP: true })
    await check(sight.page, 'event')
    for (const colorScheme of ['light', 'dark'] as const) {
      await sight.page.emulateMedia({ colorScheme })
      await assertNoViolations(sight.page)
    }
    await sight.page.setViewportSize({ width: 320, height: 640 })
    await assertNoSidewaysScroll(sight.page)
  })
})

suite('the verifier that is saved', () => {
  test('is one small file, and runs from a disk against the log', async () => {
    const answer = await fetch(urlOf('/verify/daybook-verify.html'))
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /attachment; filename="daybook-verify.html"/,
    )
    const file = Buffer.from(await answer.arrayBuffer())
    assert.ok(file.length <= 40 * KIB, `${file.length} bytes`)
    assert.doesNotMatch(file.toString('utf8'), /(?:src|href)="/)
    const path = join(folder, 'daybook-verify.html')
    await writeFile(path, file)

    await using sight = await browser.see(pathToFileURL(path).href)
    const { page } = sight
    await page.locator('input[name=base]').fill(urlOf(''))
    await page.locator('input[name=seq]').fill('42')
    assert.deepEqual(await check(page, 'event'), ALL_FOUR)
    await page.locator('input[name=month]').fill('2026-05')
    assert.deepEqual(await check(page, 'month'), ['done', 'done', 'done', 'done', 'not checked'])
    assert.deepEqual(await check(page, 'visit'), ['done', 'not checked', 'done'])
    await page.route('**/events/42', replaced('1.000000000', '2.000000000'))
    assert.deepEqual(await check(page, 'event'), ['done', ...STOPPED])
    assert.deepEqual(
      sight.wrong.filter((line) => !line.startsWith(urlOf('/api/v1/'))),
      [],
    )
  })
})

/** As the scripts run within the page see it. */
declare const localStorage: Readonly<{
  getItem(name: string): string
  setItem(name: string, text: string): void
}>
