import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Status } from '../../src/protocol/endpoints/description-endpoints.ts'
import { startImportedNode } from '../sample/imported-node.ts'
import { run, type RunResult } from '../stage/command-stage.ts'
import { fetchDescribed } from '../stage/described.ts'
import type { Service } from '../stage/service.ts'
import { SILENT_JUDGE } from './silent-judge.ts'
import { publishTo } from '../stage/node-process.ts'

/** Transactions in base58, of 64 bytes. */
const TXS = [
  '4bbxGYQfdi8vinDZbvD1kBWu94Ddr2zFDX8Jh6BerD9sUMdgCJydgLpgCuWf39ohHrJmDejZj9cxFJF4ndKinwrE',
  'BZ7LARQcQvG16jgvMpjHaL1S9vrKmHn5LuQGDTzZdSfexpmgdFfGcrL2JwFF4jze2R4nLLBrbsEd6g1d5fZwaYW',
] as const

/** Words of a page. */
async function wordsOf(url: string): Promise<string> {
  const answer = await fetchDescribed(url)
  return (await answer.text()).replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
}

suite('a service that asks the blockchain', () => {
  let service: Service
  let token = ''
  before(async () => {
    service = await startImportedNode({ settings: { workers: 2, judge: SILENT_JUDGE } })
    token = join(service.data, 'token-of-the-test')
    writeFileSync(token, `${service.token}\n`)
  })
  after(async () => service[Symbol.asyncDispose]())

  const publish = async (...drafts: readonly object[]): Promise<readonly string[]> =>
    (await publishTo(service, drafts)).drafts.map(({ status }) => status)

  const held = (...words: readonly string[]): Promise<RunResult> =>
    run(['held', ...words, '--to', service.publishUrl, '--token-file', token])

  async function finality(): Promise<Status['finality']> {
    return ((await (await fetchDescribed(`${service.url}/api/v1/status`)).json()) as Status).finality
  }

  test('shows on every thread at once that a draft waits, though no event was published', async () => {
    // The pages are in the caches of all threads before.
    for (let count = 0; count < 8; count += 1) {
      assert.match(await wordsOf(`${service.url}/status`), /None waits now\./)
      assert.match(await wordsOf(`${service.url}/about`), /0 events were published on the operator’s word/)
    }
    const deposit = { type: 'treasury', kind: 'deposit', kots: '5' }
    assert.deepEqual(await publish({ ref: 'first', ...deposit, tx: TXS[0] }), ['held'])
    for (let count = 0; count < 8; count += 1) {
      const { asked, held: waiting, oldestAtMs } = await finality()
      assert.deepEqual([asked, waiting], [true, 1])
      assert.ok(oldestAtMs !== null && Math.abs(oldestAtMs - Date.now()) < 60_000)
      assert.match(await wordsOf(`${service.url}/status`), /1 payment waits for the blockchain, since/)
    }
  })

  test('counts a vouched event on every thread, and in its metrics', async () => {
    const { code, stdout } = await held('vouch', 'first', '--reason', 'seen in the explorer')
    assert.deepEqual([code, stdout], [0, '{"ref":"first","status":"published","seq":1}\n'])
    for (let count = 0; count < 8; count += 1) {
      const { held: waiting, oldestAt, vouched } = await finality()
      assert.deepEqual([waiting, oldestAt, vouched], [0, null, 1])
      assert.match(await wordsOf(`${service.url}/about`), /1 event was published on the operator’s word/)
    }
    const metrics = await (await fetch(`${service.publishUrl}/metrics`)).text()
    assert.match(metrics, /^daybook_finality_vouched_total 1$/m)
    assert.match(metrics, /^daybook_finality_held 0$/m)
  })

  test('says of a correction’s replacement that it is held until the chain calls it final', async () => {
    const publishUrl = ['--url', service.url, '--to', service.publishUrl, '--token-file', token]
    const restated = `{"kots":"4","tx":"${TXS[1]}"}`
    const { code, stdout } = await run(['correct', '1', '--restate', restated, ...publishUrl])
    assert.equal(code, 0)
    assert.equal(
      stdout,
      'seq 2 corrects seq 1\nthe draft that restates seq 1 is held until the chain says that its transaction is final: daybook held --token-file FILE shows it\n',
    )
    assert.equal((await finality()).held, 1)
  })

  test('has doctor report what is held, and nothing of it is public', async () => {
    const { stdout } = await run(['doctor', '--url', service.url])
    assert.match(stdout, /^ok +held +1 draft is held; it has waited for /m)
    for (const path of ['/status', '/status.csv', '/api/v1/status', '/about', '/api/v1/events', '/held']) {
      const text = await (await fetch(`${service.url}${path}`)).text()
      assert.doesNotMatch(text, /restatement-of-1|BZ7LARQc|seen in the explorer/, path)
    }
    const metrics = await (await fetch(`${service.publishUrl}/metrics`)).text()
    assert.doesNotMatch(metrics, /restatement-of-1|BZ7LARQc|seen in the explorer/)
  })

  test('gives up what is dropped', async () => {
    assert.equal((await held('drop', 'restatement-of-1', '--reason', 'not needed')).code, 0)
    const { held: waiting, dropped } = await finality()
    assert.deepEqual([waiting, dropped], [0, 1])
  })
})
