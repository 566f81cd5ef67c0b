import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import type { ArchiveManifest } from '../../../src/protocol/resources.ts'
import { type Browser, openBrowser } from '../../stage/browser.ts'
import { check, replaced, showNewKey, stepsOf, STOPPED, trade } from './checked-page.ts'
import { type ModelService, openModelService } from '../../stage/model-service.ts'

let service: ModelService
let browser: Browser
/** The valid checkpoint of the fifth of May. */
let earlier = ''
before(async () => {
  service = await openModelService(Date.UTC(2026, 3, 20))
  browser = await openBrowser()
  await trade(service, 200)
  service.setNow(Date.UTC(2026, 4, 5))
  await trade(service, 150)
  earlier = await (await service.get('/api/v1/log/checkpoint')).text()
  await trade(service, 150)
  service.setNow(Date.UTC(2026, 6, 2))
  await trade(service, 10)
  service.setNow(Date.UTC(2026, 7, 2))
  await trade(service, 5)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const ADDRESS = '/api/v1/archive'
const urlOf = (path: string): string => `http://127.0.0.1:${service.port()}${path}`
const bytesOf = async (path: string): Promise<Buffer> =>
  Buffer.from(await (await service.get(path)).arrayBuffer())
const manifestOf = async (month: string): Promise<ArchiveManifest> =>
  JSON.parse((await bytesOf(`${ADDRESS}/${month}.json`)).toString('utf8')) as ArchiveManifest
const linesOf = async (month: string): Promise<readonly string[]> =>
  gunzipSync(await bytesOf(`${ADDRESS}/${month}.jsonl.gz`))
    .toString('utf8')
    .trimEnd()
    .split('\n')

async function checkMonth(page: Page, month: string): Promise<readonly string[]> {
  await page.locator('input[name=month]').fill(month)
  return check(page, 'month')
}

/** Files that a relay serves for May instead of the real ones. */
type ServedMonth = Readonly<{ manifest: Partial<ArchiveManifest>; lines?: readonly string[] | undefined }>

async function show(page: Page, { manifest, lines }: ServedMonth): Promise<void> {
  const file = lines && gzipSync(lines.map((line) => `${line}\n`).join(''))
  const sha256 = file && createHash('sha256').update(file).digest('hex')
  const gzip = file && { gzip: { bytes: file.length, sha256 } }
  const shown = { ...(await manifestOf('2026-05')), ...gzip, ...manifest }
  await page.route(`**${ADDRESS}/2026-05.json`, (route) => route.fulfill({ json: shown }))
  if (file) await page.route(`**${ADDRESS}/2026-05.jsonl.gz`, (route) => route.fulfill({ body: file }))
}

const cutTo = (lines: readonly string[]): ServedMonth => {
  const seqs = lines.map((line) => (JSON.parse(line) as { seq: number }).seq)
  const [firstSeq = 0, lastSeq = 0] = [seqs.at(0), seqs.at(-1)]
  return { lines, manifest: { firstIndex: firstSeq - 1, firstSeq, lastSeq, events: lines.length } }
}

suite('the check of a month', () => {
  for (const month of ['2026-04', '2026-05', '2026-06', '2026-07']) {
    test(`finds every event of ${month}, by the events before and after it`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const marks = await checkMonth(sight.page, month)
      assert.ok(!marks.includes('failed'), await stepsOf(sight.page, 'month'))
      const neighbour = month === '2026-04' ? [] : ['verified']
      assert.deepEqual(marks.slice(0, -1), [...Array<string>(9).fill('verified'), ...neighbour])
      assert.deepEqual(sight.wrong, [])
    })
  }

  const lies: readonly (readonly [what: string, lie: () => Promise<ServedMonth>])[] = [
    [
      'is declared empty',
      async () => ({ lines: [], manifest: { firstIndex: null, firstSeq: null, lastSeq: null, events: 0 } }),
    ],
    [
      'is another month',
      async () => ({ lines: await linesOf('2026-04'), manifest: await manifestOf('2026-04') }),
    ],
    [
      'is another month under its name',
      async () => {
        const lines = await linesOf('2026-04')
        return { lines, manifest: { ...(await manifestOf('2026-04')), month: '2026-05' } }
      },
    ],
    [
      'takes in the month before it',
      async () => cutTo([...(await linesOf('2026-04')), ...(await linesOf('2026-05'))]),
    ],
    [
      'says another amount',
      async () =>
        cutTo(
          (await linesOf('2026-05')).with(9, (await linesOf('2026-05')).at(9)?.replace('1.0', '2.0') ?? ''),
        ),
    ],
    ['lacks its first events', async () => cutTo((await linesOf('2026-05')).slice(100))],
    [
      'lacks its last events, under a checkpoint of before',
      async () => {
        const [, size, root = ''] = earlier.split('\n')
        const { lines, manifest } = cutTo((await linesOf('2026-05')).slice(0, 150))
        return { lines, manifest: { ...manifest, size: Number(size), root, checkpoint: earlier } }
      },
    ],
  ]
  for (const [what, lie] of lies) {
    test(`fails a month that ${what}`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      const shown = await lie()
      const { gzip: _, ...manifest } = shown.manifest
      await show(sight.page, { ...shown, manifest })
      assert.deepEqual((await checkMonth(sight.page, '2026-05')).slice(-2), STOPPED)
      assert.match(await stepsOf(sight.page, 'month'), /of the month|another month/)
    })
  }

  test('reports that no later event is signed yet, which is no failure', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { checkpoint } = await manifestOf('2026-07')
    await sight.page.route('**/log/checkpoint', (route) => route.fulfill({ body: checkpoint }))
    const marks = await checkMonth(sight.page, '2026-07')
    assert.equal(marks.at(-1), 'not checked')
    assert.equal(marks.includes('failed'), false)
    assert.match(await stepsOf(sight.page, 'month'), /has no event 511 yet/)
  })

  test('proves a month that a retired key has signed by the growth to the newest checkpoint', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    const { page } = sight
    const vkey = await showNewKey(page, service, (size) => size - 1, true)
    await page.locator('input[name=vkey]').fill(vkey)
    const marks = await checkMonth(page, '2026-05')
    assert.deepEqual(marks.slice(0, -1), ['not checked', ...Array<string>(9).fill('verified')])
    assert.match(await stepsOf(page, 'month'), /signed by another key that the log lists/)
    await page.route('**/log/tile/0/000', replacedTile)
    assert.deepEqual((await checkMonth(page, '2026-05')).slice(-2), STOPPED)
  })

  test('fails a month that the present log does not extend', async () => {
    await using sight = await browser.see(urlOf('/verify'))
    await sight.page.route('**/log/tile/0/001', replacedTile)
    assert.deepEqual((await checkMonth(sight.page, '2026-07')).slice(-2), STOPPED)
  })

  for (const month of ['2026-01', '2026-08', '2026-09', '2099-12']) {
    test(`says that ${month} is not closed, and fails nothing`, async () => {
      await using sight = await browser.see(urlOf('/verify'))
      assert.deepEqual(await checkMonth(sight.page, month), ['not checked'])
      assert.match(await stepsOf(sight.page, 'month'), /not closed yet/)
    })
  }
})

const replacedTile = replaced(/^[^]/, '?')
