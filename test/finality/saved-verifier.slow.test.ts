import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openPretendChain, SOLANA_FAILURE } from '../../sim/chain/pretend-chain.ts'
import { openRpcServer, type RpcServer } from '../../sim/chain/rpc-server.ts'
import type { Service } from '../../src/command/service/service.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { assertNoViolations, type Browser, type BrowserPage, openBrowser } from '../stage/browser.ts'
import { run } from '../stage/command-stage.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { TEST_KEY } from '../story/signing.ts'
import { check, savedVerifier, stepsOn } from '../web/verify/verifier-page.ts'

const NEW_LOG = { origin: 'daybook.test/chain', chain: 'evm', simulated: false } as const
const KEY = 'secret-key'
const PAID_AT = Date.UTC(2026, 3, 20)
const LATER = msOf(Date.UTC(2026, 4, 2))

const names = openPretendChain({ kind: 'evm', seed: 'browser', now: Date.now })
const account = { payer: names.addressOf('payer'), token: names.addressOf('token') }
const chain = openPretendChain({
  kind: 'evm',
  seed: 'browser',
  now: Date.now,
  startedAt: Date.now() - 7_200_000,
  tokens: { [account.token]: 6 },
})
const transfers = [{ ...account, payee: chain.addressOf('player'), units: 5_000_000n }]
const sentAt = Date.now() - 3_600_000
for (const number of [0, 1, 2, 5]) chain.send(chain.txOf(number), { sentAt, transfers })
chain.send(chain.txOf(3), { sentAt, transfers, error: SOLANA_FAILURE })

const payout = (ref: string, number: number, kots: string): object => ({
  ref,
  type: 'payout',
  kind: 'winner',
  contestId: 1,
  kots,
  tx: chain.txOf(number),
})
const contest = (kind: string, details?: object): object => ({
  ref: kind,
  type: 'contest',
  kind,
  contestId: 1,
  ...(details === undefined ? {} : { details }),
})

/** Seqs 7 to 11 are payouts: right, right, of more than was moved, failed, and never sent. */
const DRAFTS: readonly object[] = [
  { ref: 'a', type: 'treasury', kind: 'deposit', kots: '1000' },
  contest('scheduled', { opensAt: '2026-04-01T00:00Z', closesAt: '2026-04-02T00:00Z' }),
  { ref: 'b', type: 'pool', kind: 'top_up', contestId: 1, kots: '100' },
  contest('opened'),
  contest('closed'),
  { ref: 'c', type: 'prize', kind: 'winner', contestId: 1, kots: '100' },
  payout('p0', 0, '5'),
  payout('p1', 1, '5'),
  payout('p2', 2, '6'),
  payout('p3', 3, '5'),
  payout('p4', 4, '5'),
]

let folder: string
let service: Service
let browser: Browser
let rpc: RpcServer
let closed: RpcServer
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-verifier-chain-'))
  const clock = openSharedClock()
  clock.set(msOf(PAID_AT))
  service = await startLocalNode(join(folder, 'log'), NEW_LOG, [TEST_KEY], clock)
  assert.equal((await postDrafts(service, DRAFTS)).status, 200)
  clock.set(LATER)
  const later = { ref: 'later', type: 'treasury', kind: 'deposit', kots: '1' }
  const taken = {
    ref: 'taken',
    type: 'correction',
    kind: 'payout',
    contestId: 1,
    kots: '-6',
    details: { corrects: 13 },
  }
  assert.equal((await postDrafts(service, [later, payout('p5', 5, '6'), taken])).status, 200)
  browser = await openBrowser()
  rpc = await openRpcServer({ chain, path: `/${KEY}`, cors: true })
  closed = await openRpcServer({ chain })
})
after(async () => {
  await rpc.close()
  await closed.close()
  await browser[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const base = (): string => `http://127.0.0.1:${service.port}`

/** Checks an event from a disk, with these fields, and returns the steps. */
async function checkPayment(
  page: Page,
  seq: number,
  fields: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  for (const [name, value] of Object.entries(fields)) await page.locator(`[name=${name}]`).fill(value)
  return (await check(page, 'event', String(seq))).slice(2)
}

const openSaved = async (): Promise<BrowserPage> => {
  const sight = await browser.see(await savedVerifier(base(), folder))
  await sight.page.locator('details summary').click()
  return sight
}

suite('the saved verifier, with RPC servers of the reader', () => {
  test('finds a payment final on the chain, and tells the log nothing of the servers', async () => {
    await using sight = await openSaved()
    const { page } = sight
    await assertNoViolations(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`))
    assert.deepEqual(await checkPayment(page, 7, { rpc: rpc.url }), ['verified event', 'verified chain'])
    const steps = await stepsOn(page)
    assert.match(steps, /is final, in block \d+ 0x\w+, asked at 127\.0\.0\.1:\d+; no amount was compared/)
    assert.doesNotMatch(steps, new RegExp(KEY))
    const toLog = asked.filter((one) => one.startsWith(base()))
    assert.ok(toLog.length > 0 && toLog.length < asked.length)
    assert.deepEqual(
      toLog.filter((one) => one.includes(KEY)),
      [],
    )
  })

  test('compares the amount with what the payer moved, but not that of a corrected payout', async () => {
    await using sight = await openSaved()
    const { page } = sight
    const fields = { rpc: rpc.url, ...account }
    assert.deepEqual(await checkPayment(page, 8, fields), ['verified event', 'verified chain'])
    assert.match(await stepsOn(page), /the payer moved at least the 5\.000000000 of this payout/)
    assert.deepEqual(await checkPayment(page, 9, fields), ['verified event', 'failed chain'])
    assert.match(await stepsOn(page), /payouts of 6\.000000000 name its transaction.* moved 5\.000000000/)
    assert.deepEqual(await checkPayment(page, 13, fields), ['verified event', 'verified chain'])
    assert.match(await stepsOn(page), /no amount was compared/)
  })

  test('finds a failed payment, and one that nobody knows', async () => {
    await using sight = await openSaved()
    const { page } = sight
    assert.deepEqual(await checkPayment(page, 10, { rpc: rpc.url }), ['verified event', 'failed chain'])
    assert.match(await stepsOn(page), /seq 10: its transaction failed on the chain/)
    assert.deepEqual(await checkPayment(page, 11, { rpc: rpc.url }), ['verified event', 'failed chain'])
    assert.match(await stepsOn(page), /no server that was asked knows its transaction/)
  })

  test('passes no payment when the browser cannot reach a server', async () => {
    await using sight = await openSaved()
    const { page } = sight
    for (const url of [closed.url, 'http://127.0.0.1:9/']) {
      assert.deepEqual(await checkPayment(page, 7, { rpc: url }), ['verified event', 'not checked chain'])
      assert.match(await stepsOn(page), /too few RPC servers answered/)
    }
    await page.locator('[name=rpc]').fill('ftp://rpc.example')
    assert.match((await check(page, 'event', '7')).join(), /not checked .*URL 1 is no http or https URL/)
  })

  test('asks about a sample of all transactions when everything is checked', async () => {
    await using sight = await openSaved()
    const { page } = sight
    await page.locator('[name=rpc]').fill(rpc.url)
    assert.equal((await check(page, 'log')).at(-1), 'failed chain')
    const steps = await stepsOn(page)
    assert.match(steps, /seq 10: its transaction failed on the chain/)
    assert.match(steps, /seq 11: no server that was asked knows its transaction/)
  })
})

suite('the page of checks of a log with a blockchain', () => {
  test('asks no blockchain itself, and names the command that does', async () => {
    const answer = await fetch(`${base()}/verify`)
    assert.match(answer.headers.get('content-security-policy') ?? '', /connect-src 'self';/)
    const page = await answer.text()
    assert.doesNotMatch(page, /name="(?:rpc|payer|token)"/)
    assert.match(page, /daybook -- verify \S+ --chain evm=https:/)
  })
})

suite('the page of an event with a transaction', () => {
  test('shows the command that asks the blockchain about it, and what it proves', async () => {
    const page = await (await fetch(`${base()}/events/7`)).text()
    const [, words = ''] = /<code>npm run -s daybook -- verify \S+ (--chain [^<]*)<\/code>/.exec(page) ?? []
    assert.equal(words, `--chain evm=https://rpc.example.org --tx ${chain.txOf(0)}`)
    assert.match(page.replaceAll(/\s+/g, ' '), /It does not prove who received it\./)
    assert.doesNotMatch(await (await fetch(`${base()}/events/1`)).text(), /--chain/)
    const own = words.replace('https://rpc.example.org', rpc.url).split(' ')
    const { stdout } = await run(['verify', base(), ...own], { now: () => LATER })
    assert.match(stdout, /^The transaction of --tx, seq 7: it is final, in block \d+ 0x\w+\.$/m)
  })
})
