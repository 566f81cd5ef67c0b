import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { LogKeys } from '../../../src/protocol/status-resources.ts'
import { parseExplorer } from '../../../src/web/markup/site.ts'
import { assertNoSidewaysScroll } from '../../stage/browser.ts'
import { check, replaced, stepsOf } from './checked-page.ts'
import { openPageStage, type PageStage } from '../../stage/page-stage.ts'

/** The payout of the stage's story, and an event without a transaction. */
const [PAYOUT, PLAY] = ['10', '4']

const FILE = { name: 'file.csv', mimeType: 'text/csv', buffer: Buffer.from('of nobody') }

let pages: PageStage
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verify-page-'))
  const explorers = ['https://one.example/tx/{tx}', 'https://two.example/?id={tx}']
    .map(parseExplorer)
    .filter((explorer) => explorer !== undefined)
  pages = await openPageStage({ site: { explorers, contact: 'mailto:operator@one.example' } })
})
after(async () => {
  await pages[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function savedVerifier(): Promise<string> {
  const path = join(folder, 'daybook-verify.html')
  await writeFile(path, await (await pages.api.get('/verify/daybook-verify.html')).text())
  return pathToFileURL(path).href
}

suite('the page of checks', () => {
  test('has the URL of its site in its commands, without a script', async () => {
    const page = await (await pages.api.get('/verify')).text()
    assert.doesNotMatch(page, /THIS-SITE/)
    assert.ok(page.includes(`daybook -- verify ${pages.urlOf('')} --key`))
    assert.ok(page.includes(`curl -sf ${pages.urlOf('/api/v1/log/checkpoint')} `))
  })

  test('shows the server’s key, and says where to compare it', async () => {
    const { keys } = (await (await pages.api.get('/api/v1/log/keys')).json()) as LogKeys
    await using sight = await pages.see('/verify')
    const text = await sight.page.locator('main').innerText()
    assert.ok(text.includes(keys[0]?.vkey ?? 'a key'))
    assert.equal((await sight.page.locator('a[href="mailto:operator@one.example"]').count()) > 0, true)
  })

  test('asks for a key last, in plain words', async () => {
    await using sight = await pages.see('/verify')
    const inputs = sight.page.locator('[data-checks] input')
    assert.equal(await inputs.last().getAttribute('name'), 'vkey')
    const label = await sight.page.locator('label:has([name=vkey])').innerText()
    assert.equal(label.trim(), 'Key of the log from somewhere else (optional)')
  })

  test('offers only the commands without a script', async () => {
    await using sight = await pages.see('/verify', { javaScriptEnabled: false })
    const { page } = sight
    assert.equal(await page.locator('[data-checks] :visible').count(), 0)
    assert.doesNotMatch(
      await page.locator('main').innerText(),
      /file stays in your browser|This browser stores/,
    )
    const way = page.locator('main a[href="#by-command"]')
    await way.click()
    assert.match(
      await page.locator('#by-command ~ .code pre').first().innerText(),
      /^echo '\S+' > vkey\nnpm run -s daybook -- verify /,
    )
  })
})

suite('the check of a payment', () => {
  for (const [where, open] of [
    ['on the page', async () => pages.urlOf('/verify')],
    ['from a disk', savedVerifier],
  ] as const) {
    test(`${where} proves its event, and links the explorers`, async () => {
      await using sight = await pages.browser.see(await open())
      const { page } = sight
      await page.locator('input[name=payment]').fill(PAYOUT)
      assert.deepEqual(await check(page, 'payment'), ['verified', 'verified', 'not checked'])
      assert.match(await stepsOf(page, 'payment'), /transaction-0001/)
      await page.locator('form[data-check=file] input').setInputFiles(FILE)
      await check(page, 'file')
      assert.match(await stepsOf(page, 'file'), /sha256:[0-9a-f]{64}/)
      await page.setViewportSize({ width: 320, height: 640 })
      await assertNoSidewaysScroll(page)
      const hrefs = await page
        .locator('form[data-check=payment] li a')
        .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href))
      assert.deepEqual(hrefs, [
        'https://one.example/tx/transaction-0001',
        'https://two.example/?id=transaction-0001',
      ])
      await page.locator('input[name=payment]').fill(PLAY)
      assert.deepEqual(await check(page, 'payment'), ['verified', 'verified', 'not checked'])
      assert.equal(await page.locator('form[data-check=payment] li a').count(), 0)
    })
  }

  test('links no explorer for a transaction that the log does not name', async () => {
    await using sight = await pages.see('/verify')
    const { page } = sight
    await page.route(`**/events/${PAYOUT}`, replaced('transaction-0001', 'transaction-0002'))
    await page.locator('input[name=payment]').fill(PAYOUT)
    assert.deepEqual(await check(page, 'payment'), ['verified', 'failed', 'not checked'])
    assert.equal(await page.locator('form[data-check=payment] li a').count(), 0)
  })
})

suite('the saved verifier', () => {
  test('starts with the address that it was saved from, and requests nothing without one', async () => {
    await using sight = await pages.browser.see(await savedVerifier())
    const { page } = sight
    const base = page.locator('input[name=base]')
    assert.equal(await base.inputValue(), pages.urlOf(''))
    await page.locator('input[name=seq]').fill('1')
    assert.deepEqual(await check(page, 'event'), ['verified', 'verified'])
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await base.fill('')
    await page.locator('form[data-check=event] button').click()
    await page.locator('form[data-check=event] button:not([disabled])').waitFor()
    assert.equal(await page.locator('input[name=base]:invalid:focus').count(), 1)
    assert.deepEqual(asked, [])
    assert.deepEqual(await page.locator('form[data-check=event] li').count(), 0)
  })
})
