import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Route } from 'playwright-core'
import { assertNoSidewaysScroll, assertNoViolations, type Browser, openBrowser } from '../../stage/browser.ts'
import { altered, check, publish, replaced, stepsOf, STOPPED, trade } from './checked-page.ts'
import { type ModelService, openModelService } from '../../stage/model-service.ts'

const KIB = 1024
const FILE = Buffer.from('who played, and how much\n')
const DIGEST = createHash('sha256').update(FILE).digest('hex')
const EVENTS = 300

let service: ModelService
let browser: Browser
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verifier-'))
  service = await openModelService(Date.UTC(2026, 4, 20))
  browser = await openBrowser()
  await trade(service, EVENTS)
  service.setNow(Date.UTC(2026, 5, 2))
  await publish(service, [
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

const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`

const PROVED = ['verified', 'verified'] as const

suite('the page of checks', () => {
  test('proves an event, up to the signature', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=42'))
    assert.deepEqual(await check(sight.page, 'event'), PROVED)
    assert.match(
      await stepsOf(sight.page, 'event'),
      /signed by the key that the log itself names[^]* event 42 /,
    )
    assert.deepEqual(sight.wrong, [])
  })

  const lies: readonly (readonly [
    what: string,
    address: string,
    lie: (route: Route) => Promise<void>,
    steps: readonly string[],
  ])[] = [
    ['event', '**/events/42', replaced('1.000000000', '2.000000000'), ['verified', ...STOPPED]],
    [
      'proof',
      '**/log/tile/0/000',
      altered((tile) => Buffer.from(tile).fill(7, 0, 32)),
      ['verified', ...STOPPED],
    ],
    ['root', '**/log/checkpoint', replaced(/\n\d+\n..../, '\n301\nAAAA'), STOPPED],
    ['signature', '**/log/checkpoint', replaced(/(— \S+ .{20})..../, '$1AAAA'), STOPPED],
  ]
  for (const [what, address, lie, steps] of lies) {
    test(`detects that the ${what} was altered`, async () => {
      await using sight = await browser.see(urlOf('/verify?seq=42'))
      await sight.page.route(address, lie)
      assert.deepEqual(await check(sight.page, 'event'), steps)
    })
  }

  test('uses only the key that the reader gives', async () => {
    await using sight = await browser.see(urlOf('/verify?seq=42'))
    const keys = (await (await service.get('/api/v1/log/keys')).json()) as { keys: { vkey: string }[] }
    const vkey = keys.keys[0]?.vkey ?? ''
    await sight.page.locator('input[name=vkey]').fill(vkey)
    assert.deepEqual(await check(sight.page, 'event'), PROVED)
    assert.match(await stepsOf(sight.page, 'event'), /signed by the key that you gave/)
    await sight.page.locator('input[name=vkey]').fill(`${vkey}A`)
    assert.deepEqual(await check(sight.page, 'event'), STOPPED)
  })

  test('hashes a whole month after the months before it', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    await page.locator('input[name=month]').fill('2026-05')
    const held = await check(page, 'month')
    assert.deepEqual(
      [held.includes('failed'), held.slice(0, 4)],
      [false, ['verified', 'verified', 'verified', 'verified']],
    )
    await page.route(
      '**/archive/2026-05.jsonl.gz',
      altered((body) => gzipSync(gunzipSync(body).toString('utf8').replace('1.000000000', '3.000000000'))),
    )
    assert.deepEqual(await check(page, 'month'), ['verified', ...STOPPED])
    await page.unrouteAll()
    await page.route('**/archive/2026-05.json', replaced(/"root":"..../, '"root":"AAAA'))
    assert.deepEqual(await check(page, 'month'), ['verified', ...STOPPED])
  })

  test('proves that an event names the file of a loyalty run, and fails another file', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    const chosen = page.locator('form[data-check=file] input')
    await chosen.setInputFiles({ name: 'input.csv', mimeType: 'text/csv', buffer: FILE })
    assert.deepEqual(await check(page, 'file'), ['verified', 'verified', 'verified', 'verified'])
    assert.match(await stepsOf(page, 'file'), /Event 301 names this file as the input of 2026-05/)
    await chosen.setInputFiles({ name: 'other.csv', mimeType: 'text/csv', buffer: Buffer.from('other') })
    assert.deepEqual(await check(page, 'file'), ['verified', 'failed'])
  })

  for (const [what, seq, marks] of [
    ['of no number', null, ['not checked', 'not checked']],
    ['still to come', 9_999, ['not checked', 'not checked']],
    ['of another file', 301, STOPPED],
    ['of another kind', 42, STOPPED],
  ] as const) {
    test(`does not accept an event ${what} as proof of a run's file`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const { page } = sight
      const forged = Buffer.from('forged')
      const digest = `sha256:${createHash('sha256').update(forged).digest('hex')}`
      const runs = [{ month: '2026-05', input: null, output: { seq, digest } }]
      await page.route('**/loyalty/runs', (route) => route.fulfill({ json: { runs } }))
      await page
        .locator('form[data-check=file] input')
        .setInputFiles({ name: 'forged.csv', mimeType: 'text/csv', buffer: forged })
      assert.deepEqual((await check(page, 'file')).slice(-2), marks)
      assert.doesNotMatch(await stepsOf(page, 'file'), /names this file as/)
    })
  }

  test('is accessible with its steps shown', async () => {
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

suite('the saved verifier', () => {
  test('is one small file, and checks the log from a disk', async () => {
    const answer = await fetch(urlOf('/verify/daybook-verify.html'))
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /attachment; filename="daybook-verify.html"/,
    )
    const file = Buffer.from(await answer.arrayBuffer())
    assert.ok(file.length <= 85 * KIB, `${file.length} bytes`)
    assert.doesNotMatch(file.toString('utf8'), /(?:src|href)="/)
    const path = join(folder, 'daybook-verify.html')
    await writeFile(path, file)

    await using sight = await browser.see(pathToFileURL(path).href)
    const { page } = sight
    await page.locator('input[name=base]').fill(urlOf(''))
    await page.locator('input[name=seq]').fill('42')
    assert.deepEqual(await check(page, 'event'), PROVED)
    await page.locator('input[name=month]').fill('2026-05')
    assert.equal((await check(page, 'month')).includes('failed'), false)
    assert.deepEqual(await check(page, 'visit'), ['verified', 'verified'])
    await page.route('**/events/42', replaced('1.000000000', '2.000000000'))
    assert.deepEqual(await check(page, 'event'), ['verified', ...STOPPED])
    assert.deepEqual(
      sight.wrong.filter((line) => !line.startsWith(urlOf('/api/v1/'))),
      [],
    )
  })
})
