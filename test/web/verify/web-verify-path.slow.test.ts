import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { treeHasher } from '../../../src/tlog/hash.ts'
import { inclusionProof, tilesOfInclusion } from '../../../src/tlog/inclusion.ts'
import { formatTilePath, type Tile } from '../../../src/tlog/tile.ts'
import { assertNoSidewaysScroll, assertNoViolations, type Browser, openBrowser } from '../../stage/browser.ts'
import { altered, check, replaced, sha256, signedBy, STOPPED, trade } from './checked-page.ts'
import { cut, drawnPath, inPicture, lettersIn, overlap, type Path, pathOf, saidPath } from './drawn-path.ts'
import { type ModelService, openModelService } from '../../stage/model-service.ts'
import { TEST_KEY } from '../../story/signing.ts'

const EVENTS = 301
const ORIGIN = 'daybook.test/model'
const NARROW = { width: 320, height: 640 }
/** Height of the smallest letters of the pages, in pixels. */
const LETTERS_PX_MIN = 12

let service: ModelService
let browser: Browser
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verify-path-'))
  service = await openModelService(Date.UTC(2026, 4, 20))
  browser = await openBrowser()
  await trade(service, EVENTS)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`
const textOf = async (path: string): Promise<string> => (await service.get(`/api/v1/${path}`)).text()

/** Path of an event by its receipt. */
async function receivedPath(seq: number): Promise<Path> {
  const [head = ''] = (await textOf(`log/proof/${seq}`)).split('\n\n')
  const proof = head.split('\n').slice(2)
  const line = await textOf(`events/${seq}`)
  return pathOf(
    line,
    seq - 1,
    EVENTS,
    proof.map((hash) => Buffer.from(hash, 'base64')),
  )
}

async function checkEvent(page: Page, seq: number): Promise<readonly string[]> {
  await page.locator('input[name=seq]').fill(String(seq))
  return check(page, 'event')
}

const wordsOf = async (page: Page, name: 'title' | 'desc'): Promise<string> => {
  const ids = (await page.locator('[data-path] svg').getAttribute('aria-labelledby')) ?? ''
  const found = page.locator(`[data-path] svg > ${name}`)
  assert.ok(ids.split(' ').includes((await found.getAttribute('id')) ?? 'none'))
  return (await found.textContent()) ?? ''
}

const isShown = (page: Page): Promise<boolean> => page.locator('[data-path]').isVisible()

suite('the picture of the path', () => {
  for (const seq of [1, 42, 256, EVENTS - 1, EVENTS]) {
    test(`shows every hash from event ${seq} to the root, as in its receipt`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const { page } = sight
      assert.equal(await isShown(page), false)
      assert.deepEqual(await checkEvent(page, seq), ['verified', 'verified'])
      const path = await receivedPath(seq)
      const { last, ...said } = await saidPath(page)
      assert.deepEqual(said, path)
      assert.deepEqual(await drawnPath(page), cut(path))
      const [, , root = ''] = (await textOf('log/checkpoint')).split('\n')
      assert.equal(path.steps.at(-1)?.[2], root)
      assert.equal(last, `That is the root of the checkpoint of ${EVENTS} events, which is signed`)
      assert.equal(await wordsOf(page, 'desc'), last)
      assert.match(
        await wordsOf(page, 'title'),
        new RegExp(`event ${seq} .* over ${path.steps.length} hashes`),
      )
      const [first, second] = await lettersIn(page)
      assert.equal(first?.said, '✔ the root that is signed')
      assert.equal(second?.said, `${inPicture(root)} of ${EVENTS} events`)
      assert.deepEqual(sight.wrong, [])
    })
  }

  for (const [what, address, lie] of [
    ['event', '**/events/42', replaced('1.000000000', '2.000000000')],
    ['tree', '**/log/tile/0/000', altered((tile) => Buffer.from(tile).fill(7, 0, 32))],
  ] as const) {
    test(`shows a root that differs from the signed one for an altered ${what}`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const { page } = sight
      await page.route(address, lie)
      assert.deepEqual(await checkEvent(page, 42), ['verified', ...STOPPED])
      const [, , root = ''] = (await textOf('log/checkpoint')).split('\n')
      const path = await saidPath(page)
      assert.deepEqual(await drawnPath(page), cut(path))
      assert.notEqual(path.steps.at(-1)?.[2], root)
      assert.equal(path.last, `That is not the root of the checkpoint of ${EVENTS} events, which is ${root}`)
      assert.equal(await wordsOf(page, 'desc'), path.last)
      const letters = (await lettersIn(page)).map(({ said }) => said)
      assert.equal(letters[0], '✖ not the root of the checkpoint')
      assert.ok(letters.includes(`${inPicture(root)} of ${EVENTS} events`) && letters.includes('≠'))
      assert.ok(!letters.join(' ').includes('✔'))
    })
  }

  test('is hidden if nothing was hashed: for a future event, a missing tile or a failed signature', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    await checkEvent(page, 42)
    assert.equal(await isShown(page), true)
    await checkEvent(page, EVENTS + 1)
    assert.equal(await isShown(page), false)
    await page.route('**/log/tile/0/000', (route) => route.fulfill({ body: 'no tile' }))
    assert.deepEqual(await checkEvent(page, 42), ['verified', ...STOPPED])
    assert.equal(await isShown(page), false)
    await page.unroute('**/log/tile/0/000')
    await checkEvent(page, 42)
    assert.equal(await isShown(page), true)
    await page.route('**/log/checkpoint', replaced(/(— \S+ .{20})..../, '$1AAAA'))
    assert.deepEqual(await checkEvent(page, 42), STOPPED)
    assert.equal(await isShown(page), false)
  })

  test('has a note instead of a tick if the signature was not checked', async () => {
    await using sight = await browser.see('about:blank')
    const { page } = sight
    await page.addInitScript(() => {
      Object.defineProperty(crypto, 'subtle', { value: undefined })
    })
    await page.route('**/assets/verify-signature.*', (route) => route.abort())
    await page.goto(urlOf('/verify'))
    assert.deepEqual(await checkEvent(page, 42), ['not checked', 'verified'])
    const letters = (await lettersIn(page)).map(({ said }) => said)
    assert.equal(letters[0], '– the root; its signature is not checked')
    assert.ok(!letters.join(' ').includes('✔'))
    assert.match((await saidPath(page)).last, /whose signature is not checked$/)
    assert.deepEqual(cut(await receivedPath(42)), await drawnPath(page))
  })

  test('is the same in the saved verifier', async () => {
    const path = join(folder, 'daybook-verify.html')
    await writeFile(path, await (await service.get('/verify/daybook-verify.html')).text())
    const drawn: string[] = []
    for (const address of [pathToFileURL(path).href, urlOf('/verify')]) {
      await using sight = await browser.see(address)
      const { page } = sight
      if (address.startsWith('file:')) await page.locator('input[name=base]').fill(urlOf(''))
      assert.deepEqual(await checkEvent(page, 42), ['verified', 'verified'])
      drawn.push(await page.locator('[data-path] svg').innerHTML())
      const { last: _, ...said } = await saidPath(page)
      assert.deepEqual(said, await receivedPath(42))
      await page.setViewportSize(NARROW)
      await assertNoSidewaysScroll(page)
    }
    assert.equal(drawn[0], drawn[1])
  })
})

const hashOf = (name: string): Uint8Array => createHash('sha256').update(name).digest()

/** Parts of a log of nearly 2^24 events that one event needs. Its hashes are made from names. */
async function showLong(page: Page): Promise<Path & Readonly<{ seq: number }>> {
  const [size, index] = [2 ** 24 - 3, 2 ** 23 + 12_345]
  const seq = index + 1
  const line = (await textOf('events/42')).replace('"seq":42', `"seq":${seq}`)
  const read = ({ level, index: at, width }: Tile): Buffer =>
    Buffer.concat(Array.from({ length: width }, (_, offset) => hashOf(`${level}/${at}/${offset}`)))
  const path = pathOf(line, index, size, inclusionProof(treeHasher(sha256), index, size, read) ?? [])
  const root = path.steps.at(-1)?.[2] ?? ''
  const [note] = signedBy(TEST_KEY, ORIGIN, `${ORIGIN}\n${size}\n${root}\n`)
  await page.route('**/log/checkpoint', (route) => route.fulfill({ body: note }))
  await page.route(`**/events/${seq}`, (route) => route.fulfill({ body: line }))
  await page.route(`**/events/${seq}/details`, (route) => route.fulfill({ json: { seq, details: null } }))
  for (const tile of tilesOfInclusion(index, size) ?? []) {
    await page.route(`**/log/${formatTilePath(tile)}`, (route) => route.fulfill({ body: read(tile) }))
  }
  return { ...path, seq }
}

suite('the picture of a path of 24 steps', () => {
  const looks: readonly BrowserContextOptions[] = [
    { viewport: NARROW },
    { viewport: NARROW, colorScheme: 'dark' },
    { viewport: NARROW, forcedColors: 'active' },
    { viewport: { width: 1280, height: 900 } },
  ]
  for (const look of looks) {
    test(`is legible and accessible: ${JSON.stringify(look)}`, async () => {
      await using sight = await browser.see(urlOf('/verify'), { ...look, bypassCSP: true })
      const { page } = sight
      const { seq, ...path } = await showLong(page)
      assert.equal(path.steps.length, 24)
      assert.deepEqual(await checkEvent(page, seq), ['verified', 'verified'])
      const { last: _, ...said } = await saidPath(page)
      assert.deepEqual(said, path)
      assert.deepEqual(await drawnPath(page), cut(path))
      await assertNoSidewaysScroll(page)
      const letters = await lettersIn(page)
      const { width = 0 } = look.viewport ?? {}
      for (const [at, one] of letters.entries()) {
        assert.ok(one.left >= 0 && one.right <= width, `${one.said} is in sight`)
        assert.ok(one.bottom - one.top >= LETTERS_PX_MIN, `${one.said} is ${one.bottom - one.top} high`)
        const over = letters.slice(at + 1).filter((other) => overlap(one, other))
        assert.deepEqual(over, [], one.said)
      }
      // The list is closed if it is below the picture.
      assert.equal(await page.locator('[data-path] ol').isVisible(), width > 1_000)
      await assertNoViolations(page)
    })
  }
})
