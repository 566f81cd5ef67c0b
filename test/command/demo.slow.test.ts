import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { failingTxOf, txOf } from '../../sim/import-draft.ts'
import { randomOf } from '../../sim/random.ts'
import { openChain } from '../../src/finality/chain/open-chain.ts'
import { parseAmount } from '../../src/protocol/amount.ts'
import type { Status } from '../../src/protocol/endpoints/description-endpoints.ts'
import { run } from '../stage/command-stage.ts'
import { fetchDescribed } from '../stage/described.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'

/** Time between two looks, and the longest time in which something must happen. */
const LOOK_MS = 250
const WAIT_MS_MAX = 60_000

const CLOCK = { timeoutMs: 5_000, now: () => performance.now() }

const random = randomOf('by hand')
const mine = { ref: 'mine', type: 'trade', kind: 'buy', kots: '5', tx: txOf(random) }
const failing = { ref: 'failing', type: 'trade', kind: 'buy', kots: '5', tx: failingTxOf(random) }

const start = (data: string): Promise<NodeProcess> => startNode(data, ['--chain', 'solana'], [], 'demo')

async function finality(node: NodeProcess): Promise<Status['finality']> {
  const answer = await fetchDescribed(`${node.url}/api/v1/status`)
  return ((await answer.json()) as Status).finality
}

async function statusOf(node: NodeProcess, draft: object): Promise<string | undefined> {
  return (await node.publish([draft])).drafts[0]?.status
}

/** Sends a draft again until its status is another than `held`, and returns that. */
async function settled(node: NodeProcess, draft: object): Promise<string | undefined> {
  const end = performance.now() + WAIT_MS_MAX
  for (;;) {
    const status = await statusOf(node, draft)
    if (status !== 'held') return status
    assert.ok(performance.now() < end, `it is still held after ${WAIT_MS_MAX} ms`)
    await sleep(LOOK_MS)
  }
}

suite('the demonstration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-demo-'))
  const data = join(folder, 'data')
  test.after(() => rmSync(folder, { recursive: true, force: true }))

  test('says on a terminal where to look, and nothing that nobody asked for', async () => {
    const stop = new AbortController()
    const stderr = new PassThrough()
    let said = ''
    stderr.on('data', (text: Buffer) => {
      said += text.toString()
      if (said.includes('Ctrl-C')) stop.abort()
    })
    const words = ['demo', '--data', data, '--port', '0', '--publish-port', '0', '--drain', '0']
    assert.equal((await run(words, { interactive: true, stderr, stop: stop.signal })).code, 0)
    const [first = '', imported = '', open = '', ...more] = said.trimEnd().split('\n')
    assert.match(first, /^First start: /)
    assert.match(imported, /^\d+ events imported in [\d.]+ s$/)
    assert.match(open, /^Open http:\/\/127\.0\.0\.1:\d+\/ · Ctrl-C stops$/)
    assert.deepEqual(more, [])
  })

  test('holds payments for some seconds, also over a kill, and knows those of the history', async () => {
    let node = await start(data)
    assert.equal(await statusOf(node, mine), 'held')
    assert.equal(await statusOf(node, failing), 'held')
    const { asked, held } = await finality(node)
    assert.ok(asked)
    assert.ok(held >= 2)
    await node.end('SIGKILL')

    node = await start(data)
    assert.ok((await finality(node)).held >= 2, 'what was held is held after the restart')
    assert.equal(await settled(node, mine), 'duplicate')
    assert.equal(await settled(node, failing), 'failed')
    const found = await fetchDescribed(`${node.url}/api/v1/events?tx=${mine.tx}`)
    assert.equal(((await found.json()) as { events: unknown[] }).events.length, 1)
    const lost = await fetchDescribed(`${node.url}/api/v1/events?tx=${failing.tx}`)
    assert.deepEqual(((await lost.json()) as { events: unknown[] }).events, [])
    const [, rpc = ''] = /pretend chain on (http:\S+);/.exec(node.stderr()) ?? []
    assert.ok(node.stderr().includes(`Open ${node.url}/ · Ctrl-C stops`))
    const paid = await fetchDescribed(`${node.url}/api/v1/events?type=payout&limit=1`)
    const [payout] = ((await paid.json()) as { events: readonly { tx: string; kots: string }[] }).events
    const [, payer = '', token = ''] = /--payer (\w+) --token (\w+)/.exec(node.stderr()) ?? []
    const chain = openChain({
      chain: 'solana',
      urls: [rpc],
      signal: AbortSignal.timeout(WAIT_MS_MAX),
      ...CLOCK,
    })
    await chain.identify(null)
    const moved = await chain.moved(payout?.tx ?? '', { payer, token })
    assert.equal(moved?.units, parseAmount(payout?.kots ?? ''), 'the chain moved what was paid')
    const params = [[payout?.tx], { searchTransactionHistory: true }]
    const said = await fetch(rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSignatureStatuses', params }),
    })
    assert.match(await said.text(), /"confirmationStatus":"finalized"/, 'the chain knows the history')
    assert.equal((await node.end('SIGTERM')).code, 0)
  })
})
