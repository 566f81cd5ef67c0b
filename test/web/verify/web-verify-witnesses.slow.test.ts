import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { forgetWitnessed, keepWitnessed } from '../../../src/log/witnessed/witnessed-file.ts'
import { DAY_MS } from '../../../src/protocol/moment.ts'
import type { LogKeys } from '../../../src/protocol/status-resources.ts'
import { formatVkey } from '../../../src/tlog/vkey.ts'
import { assertNoSidewaysScroll, assertNoViolations, type BrowserPage, NARROW } from '../../stage/browser.ts'
import { openPageStage, type PageStage } from '../../stage/page-stage.ts'
import { cosignedState, ML_DSA_WITNESS, WITNESSES } from '../../story/witnesses.ts'
import { check, stepsOf, STOPPED } from './checked-page.ts'
import {
  give,
  limits,
  noteOf,
  NOW,
  REFUSED_KEYS,
  seeAt,
  serve,
  TIME_SECONDS,
  TWO,
  VKEYS,
  WITNESS_LIES,
} from './witnessed-page.ts'

const DONE = 'verified'
const OPEN = 'not checked'
/** Words about the limit that remains without witnesses, and with a quorum of the reader's own. */
const UNSHARED = /That two readers are shown the same log, unless/
const SHARED =
  /That your witnesses are honest\. At least 1 of the 3 must lie .* up to event \d+ of daybook\.test\/api\./

let pages: PageStage
let folder: string
/** Checkpoints of two sizes. */
let early: string
let late: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verify-witnesses-'))
  pages = await openPageStage()
  early = await newest()
  pages.api.trade(2)
  late = await newest()
})
after(async () => {
  await pages[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const newest = async (): Promise<string> => (await pages.api.get('/api/v1/log/checkpoint')).text()
const sizeOf = (checkpoint: string): number => Number(checkpoint.split('\n')[1])
const see = (url = pages.urlOf('/verify')): Promise<BrowserPage> => seeAt(pages, url)
/** State of the log with cosignatures of three minutes before the browser's clock. */
const keep = (checkpoint: string, by = WITNESSES): void =>
  keepWitnessed(pages.api.data, cosignedState(checkpoint, { by, timeSeconds: TIME_SECONDS }))

suite('the check of witnesses', () => {
  test('says plainly that a log has no witnesses, and fails one that has none of the reader’s own', async () => {
    forgetWitnessed(pages.api.data)
    await using sight = await see()
    const { page } = sight
    assert.match(await page.locator('aside').innerText(), /This log has no witnesses: only its operator says/)
    assert.deepEqual(await check(page, 'witnesses'), [OPEN])
    assert.match(await stepsOf(page, 'witnesses'), /This log has no witnesses/)
    await give(page, VKEYS)
    assert.deepEqual(await check(page, 'witnesses'), ['failed'])
    assert.match(await limits(page), UNSHARED)
    await page.locator('aside a[href="/about#witness"]').click()
    assert.equal(await page.locator('dt#witness').count(), 1)
  })

  test('by the log’s own list says who vouches, and that such a list proves little', async () => {
    keep(early, TWO)
    await using sight = await see()
    const { page } = sight
    assert.deepEqual(await check(page, 'witnesses'), [OPEN, DONE, DONE, DONE, OPEN, DONE, DONE, DONE])
    const said = await stepsOf(page, 'witnesses')
    assert.match(said, /may all be its operator/)
    assert.match(said, /witness\.example\/three has not signed it/)
    assert.match(
      said,
      new RegExp(
        String.raw`2 of 3 witnesses vouch for ${sizeOf(early)} of ${sizeOf(late)} events, as of 2026-10-01 05:57:00 UTC, 3 minutes ago: .*one, .*two; not .*three`,
      ),
    )
    assert.match(await limits(page), UNSHARED)
    assert.deepEqual(
      sight.wrong.filter((line) => !line.startsWith(pages.urlOf('/'))),
      [],
    )
  })

  test('by the reader’s own keys says what remains unproved, until another check fails', async () => {
    keep(late)
    await using sight = await see()
    const { page } = sight
    await give(page, VKEYS)
    assert.deepEqual(await check(page, 'witnesses'), Array(7).fill(DONE))
    assert.match(await limits(page), SHARED)
    assert.doesNotMatch(await limits(page), UNSHARED)
    // Two quorums of one out of three need not have a witness in common.
    await give(page, VKEYS, '1')
    assert.equal((await check(page, 'witnesses')).at(-1), DONE)
    assert.match(await limits(page), UNSHARED)
    await give(page, VKEYS, '3')
    assert.equal((await check(page, 'witnesses')).at(-1), DONE)
    assert.match(await limits(page), /3 of the 3 must lie/)
    await serve(page, noteOf(late, { by: TWO }))
    assert.equal((await check(page, 'witnesses')).at(-1), 'failed')
    assert.match(await limits(page), UNSHARED)
    // Two false witnesses must not make the third one wrong.
    const ahead = { by: WITNESSES.slice(1), timeSeconds: TIME_SECONDS + 3_600 }
    await serve(page, noteOf(noteOf(late, { by: TWO }), ahead))
    await give(page, VKEYS, '1')
    assert.equal((await check(page, 'witnesses')).at(-1), DONE)
    assert.match(await stepsOf(page, 'witnesses'), /two has signed it at a time .* 1 of 3 witnesses vouch/s)
  })

  test('refuses what is no key of a witness, and a quorum of more than there are', async () => {
    await using sight = await see()
    const { page } = sight
    const key = await logKey()
    for (const [what, vkeys, says] of REFUSED_KEYS) {
      await give(page, vkeys(key))
      assert.deepEqual(await check(page, 'witnesses'), STOPPED, what)
      assert.match(await stepsOf(page, 'witnesses'), says)
      assert.doesNotMatch(await stepsOf(page, 'witnesses'), /AR|BK/, 'the key is not repeated')
    }
    await give(page, VKEYS, '4')
    assert.deepEqual(await check(page, 'witnesses'), STOPPED)
    assert.match(await stepsOf(page, 'witnesses'), /from 1 to 3/)
  })

  test('fails each lie about its witnesses', async () => {
    await using sight = await see()
    const { page } = sight
    await give(page, VKEYS)
    for (const [what, note, says] of WITNESS_LIES) {
      await serve(page, note(late))
      const marks = await check(page, 'witnesses')
      assert.ok(marks.includes('failed'), `${what}: ${await stepsOf(page, 'witnesses')}`)
      assert.match(await stepsOf(page, 'witnesses'), says, what)
      assert.match(await limits(page), UNSHARED, what)
    }
    // An old view of the log, of which its witnesses saw more.
    await serve(page, noteOf(late))
    await page.route('**/log/checkpoint', (route) => route.fulfill({ body: early }))
    assert.deepEqual((await check(page, 'witnesses')).slice(-2), STOPPED)
    assert.match(await stepsOf(page, 'witnesses'), /shorter than at the witnessed checkpoint/)
  })

  test('does not pass a log whose events of yesterday nobody has witnessed', async () => {
    const later = NOW + 2 * DAY_MS
    await using sight = await see()
    const { page } = sight
    await page.clock.setFixedTime(later)
    await give(page, VKEYS)
    await serve(page, noteOf(early, { timeSeconds: later / 1_000 }))
    assert.equal((await check(page, 'witnesses')).at(-1), OPEN)
    assert.match(
      await stepsOf(page, 'witnesses'),
      new RegExp(`Nobody vouches for event ${sizeOf(early) + 1} `),
    )
    assert.match(await limits(page), UNSHARED)
  })

  test('verifies ML-DSA-44 where the browser has it, and never passes it where it has not', async () => {
    const keys = [ML_DSA_WITNESS, ...WITNESSES.slice(1)]
    const note = noteOf(late, { keys, by: keys.slice(0, 2) })
    const vkeys = keys.map(({ key }) => formatVkey(key))
    await using sight = await see()
    const { page } = sight
    await give(page, vkeys)
    await serve(page, note)
    assert.equal((await check(page, 'witnesses')).at(-1), DONE, await stepsOf(page, 'witnesses'))
    assert.match(await stepsOf(page, 'witnesses'), /verified The witness witness\.example\/one has signed it/)
    await serve(page, note.replace(/(— witness.example\/one .{900})..../, '$1AAAA'))
    assert.ok((await check(page, 'witnesses')).includes('failed'))

    await page.addInitScript(() => {
      const { importKey } = SubtleCrypto.prototype
      SubtleCrypto.prototype.importKey = function (...asked) {
        if (asked[2] === 'ML-DSA-44') return Promise.reject(new Error('Unrecognized name'))
        return importKey.apply(this, asked)
      }
    })
    await page.reload()
    await give(page, vkeys)
    await serve(page, note)
    const marks = await check(page, 'witnesses')
    assert.equal(marks.at(-1), OPEN)
    assert.match(await stepsOf(page, 'witnesses'), /one is not checked by this browser/)
    assert.match(await limits(page), UNSHARED)
    // The other two are a quorum without it.
    await serve(page, noteOf(late, { keys }))
    assert.equal((await check(page, 'witnesses')).at(-1), DONE)
  })

  test('checks nothing when its module does not come', async () => {
    await using sight = await see()
    await sight.page.route('**/assets/verify-witnesses.*', (route) => route.abort())
    assert.deepEqual(await check(sight.page, 'witnesses'), [OPEN])
    assert.match(await stepsOf(sight.page, 'witnesses'), /could not be loaded/)
  })
})

suite('the check of a saved proof', () => {
  test('names the reader’s witnesses that have signed it, and finds a change', async () => {
    keep(early, TWO)
    const witnessed = await (await pages.api.get('/api/v1/log/proof/3?checkpoint=witnessed')).text()
    const plain = await (await pages.api.get('/api/v1/log/proof/3')).text()
    await using sight = await see()
    const { page } = sight
    const choose = (text: string): Promise<void> =>
      page
        .locator('form[data-check=proof] input')
        .setInputFiles({ name: 'event.tlog-proof', mimeType: 'text/plain', buffer: Buffer.from(text) })
    await choose(witnessed)
    assert.deepEqual(await check(page, 'proof'), [DONE, DONE, OPEN, DONE, DONE])
    assert.match(await stepsOf(page, 'proof'), /line of event 3 [^]*has 2 signatures of others than the log/)
    await give(page, VKEYS)
    assert.deepEqual(await check(page, 'proof'), [DONE, DONE, DONE, DONE, OPEN, DONE, DONE, DONE])
    assert.match(await stepsOf(page, 'proof'), /2 of 3 witnesses vouch for [^]* Unchanged since this proof/)
    await choose(plain)
    assert.deepEqual(await check(page, 'proof'), [DONE, DONE, OPEN, OPEN, OPEN, OPEN, DONE, DONE])
    for (const lie of [
      witnessed.replace('index 2', 'index 3'),
      witnessed.replace(/(— witness.example\/two .{40})..../, '$1AAAA'),
      witnessed.replace(/(— daybook\S+ .{20})..../, '$1AAAA'),
      'no proof',
      'x'.repeat(600_000),
    ]) {
      await choose(lie)
      assert.deepEqual((await check(page, 'proof')).slice(-2), STOPPED)
    }
  })
})

suite('the saved verifier', () => {
  test('checks the reader’s own witnesses from a disk', async () => {
    keep(late)
    const path = join(folder, 'daybook-verify.html')
    await writeFile(path, await (await pages.api.get('/verify/daybook-verify.html')).text())
    await using sight = await see(pathToFileURL(path).href)
    const { page } = sight
    await give(page, VKEYS, '3')
    assert.deepEqual(await check(page, 'witnesses'), Array(7).fill(DONE))
    assert.match(await limits(page), /3 of the 3 must lie/)
    await page.setViewportSize({ width: 320, height: 640 })
    await assertNoSidewaysScroll(page)
  })
})

suite('the page of checks', () => {
  test('lists the witnesses without a script', async () => {
    keep(early, TWO)
    await using sight = await pages.see('/verify', { javaScriptEnabled: false })
    const said = await sight.page.locator('aside').innerText()
    assert.match(said, /2 of 3 witnesses vouch for \d+ events, as of/)
    assert.match(said, /witness\.example\/two signs, last \d+ events/)
    assert.match(said, /witness\.example\/three does not answer/)
    assert.match(said, /This is the log’s own list/)
  })

  test('is accessible with its witnesses shown, and no wider than a phone', async () => {
    keep(late)
    await using sight = await pages.see('/verify', { bypassCSP: true, viewport: NARROW })
    await sight.page.clock.setFixedTime(NOW)
    await give(sight.page, VKEYS)
    await check(sight.page, 'witnesses')
    await assertNoSidewaysScroll(sight.page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await sight.page.emulateMedia({ colorScheme })
      await assertNoViolations(sight.page)
    }
  })
})

async function logKey(): Promise<string> {
  const { keys } = (await (await pages.api.get('/api/v1/log/keys')).json()) as LogKeys
  return keys[0]?.vkey ?? ''
}

/** The page's global object, for scripts that run in the page. */
declare const SubtleCrypto: Readonly<{
  prototype: { importKey: (...asked: unknown[]) => Promise<unknown> }
}>
