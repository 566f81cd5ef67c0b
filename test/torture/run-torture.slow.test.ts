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
    assert.match(reportOf(settings), /`whole` \| It holds \| kills 7, seed 42 \| held, in \S+ s, at abc/)
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
})
