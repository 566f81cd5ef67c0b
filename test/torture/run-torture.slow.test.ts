import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { CampaignRow } from './campaigns.ts'
import { reportOf, runTorture } from './run-torture.ts'

const row = (file: string): CampaignRow => ({
  file,
  promise: 'It holds',
  unit: 'kills',
  sizes: { quick: 1, hour: 7, night: 9 },
  seed: 'fixed',
})

/** A test file that records what it was given, unless it throws or returns before. */
const file = (name: string, before: string): string => `
import { test } from 'node:test'
import { appendFileSync } from 'node:fs'
test('${name}', () => {
  ${before}
  const { DAYBOOK_CAMPAIGN: size, DAYBOOK_SEED: seed, DAYBOOK_RECORD: record } = process.env
  const figures = { kills: Number(size), seed: Number(seed) }
  appendFileSync(record, JSON.stringify({ name: '${name}', size, seed, figures }) + '\\n')
})`

suite('the runner of campaigns', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-torture-'))
  test.after(() => rmSync(folder, { recursive: true }))
  const campaigns = { whole: row(join(folder, 'whole.mjs')), broken: row(join(folder, 'broken.mjs')) }
  const settings = {
    campaigns,
    tier: 'hour',
    seed: '42',
    only: [],
    folder: join(folder, 'runs'),
    commit: 'abc',
  } as const
  const told: string[] = []
  const run = (only: readonly string[] = []): ReturnType<typeof runTorture> =>
    runTorture({ ...settings, only }, (line) => void told.push(line), new AbortController().signal)

  test('gives each campaign the size of the tier and the seed, and one that records nothing counts as failed', async () => {
    writeFileSync(campaigns.whole.file, file('whole', ''))
    writeFileSync(campaigns.broken.file, file('broken', 'return'))
    assert.deepEqual(await run(), { failed: ['broken'] })
    assert.match(told.join('\n'), /whole: passed in \S+ s \{"kills":7,"seed":42\}/)
    assert.match(told.join('\n'), /--tier hour --seed 42/)
    assert.match(reportOf(settings), /`whole` \| It holds \| kills 7, seed 42 \| held, in \d+ s, at abc/)
    assert.match(reportOf(settings), /`broken` .*\*\*broken\*\*/)
  })

  test('goes on where a run with the same seed ended, unless a campaign is named', async () => {
    told.length = 0
    writeFileSync(campaigns.broken.file, file('broken', ''))
    assert.deepEqual(await run(), { failed: [] })
    assert.match(told.join('\n'), /whole: passed before/)
    assert.match(told.join('\n'), /broken: passed in/)
    writeFileSync(campaigns.whole.file, file('whole', `throw new Error('a promise was broken')`))
    assert.deepEqual(await run(['whole']), { failed: ['whole'] })
    assert.match(told.join('\n'), /a promise was broken/)
    assert.match(readFileSync(join(settings.folder, 'hour-42-whole.log'), 'utf8'), /a promise was broken/)
  })

  test('runs a large campaign in parts with seeds of their own, goes on with the next part, and adds their counts', async () => {
    const ran = join(folder, 'parts')
    writeFileSync(ran, '')
    const part = (before: string): string => `
      import { test } from 'node:test'
      import { appendFileSync } from 'node:fs'
      test('parted', () => {
        const { DAYBOOK_CAMPAIGN: size, DAYBOOK_SEED: seed, DAYBOOK_RECORD: record } = process.env
        appendFileSync('${ran}', size + ' of seed ' + seed + '\\n')
        ${before}
        appendFileSync(record, JSON.stringify({ name: 'parted', figures: { kills: Number(size) } }) + '\\n')
      })`
    const parted = { ...row(join(folder, 'parted.mjs')), part: 3 }
    const own = { ...settings, campaigns: { parted }, tier: 'night' as const }
    const go = (): ReturnType<typeof runTorture> =>
      runTorture(own, () => undefined, new AbortController().signal)
    writeFileSync(parted.file, part(`if (seed === '42-2') throw new Error('broken')`))
    assert.deepEqual(await go(), { failed: ['parted'] })
    writeFileSync(parted.file, part(''))
    assert.deepEqual(await go(), { failed: [] })
    const sizes = ['42-1', '42-2', '42-2', '42-3'].map((seed) => `3 of seed ${seed}`)
    assert.deepEqual(readFileSync(ran, 'utf8').trim().split('\n'), sizes)
    assert.match(reportOf(own), /`parted` \| It holds \| kills 9 \| held, in \S+ s, at abc/)
  })

  test('runs a campaign again that has another size than when it passed, and a part of another division', async () => {
    const ran = join(folder, 'again')
    writeFileSync(ran, '')
    const again = row(join(folder, 'again.mjs'))
    const own = { ...settings, tier: 'night' as const, seed: '43' }
    const go = (changed: Partial<CampaignRow>): ReturnType<typeof runTorture> =>
      runTorture(
        { ...own, campaigns: { again: { ...again, ...changed } } },
        () => undefined,
        new AbortController().signal,
      )
    const body = (before: string): string =>
      file('again', `appendFileSync('${ran}', process.env.DAYBOOK_PART + '\\n'); ${before}`)
    writeFileSync(again.file, body(`if (process.env.DAYBOOK_PART === '3/3') throw new Error('broken')`))
    assert.deepEqual(await go({ part: 3 }), { failed: ['again'] })
    writeFileSync(again.file, body(''))
    assert.deepEqual(await go({ part: 5 }), { failed: [] })
    assert.deepEqual(await go({ part: 5 }), { failed: [] })
    assert.deepEqual(await go({ part: 5, sizes: { quick: 1, hour: 7, night: 10 } }), { failed: [] })
    const parts = ['1/3', '2/3', '3/3', '1/2', '2/2', '1/2', '2/2']
    assert.deepEqual(readFileSync(ran, 'utf8').trim().split('\n'), parts)
  })
})
