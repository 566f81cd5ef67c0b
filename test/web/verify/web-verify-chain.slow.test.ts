import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { openPretendChain, SOLANA_FAILURE } from '../../../sim/chain/pretend-chain.ts'
import { openRpcServer, type RpcServer } from '../../../sim/chain/rpc-server.ts'
import type { Service } from '../../../src/command/service/service.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { openSharedClock } from '../../../src/publish/guards/shared-clock.ts'
import { assertNoViolations, type Browser, openBrowser } from '../../stage/browser.ts'
import { run } from '../../stage/command-stage.ts'
import { postDrafts, startLocalNode } from '../../stage/manual-node.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { check, replaced, stepsOf } from './checked-page.ts'

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

/** The saved verifier, opened from a disk, with the address of the log. */
async function openSaved(): Promise<Awaited<ReturnType<Browser['see']>>> {
  const path = join(folder, 'daybook-verify.html')
  await writeFile(path, await (await fetch(`${base()}/verify/daybook-verify.html`)).text())
  const sight = await browser.see(pathToFileURL(path).href)
  await sight.page.locator('input[name=base]').fill(base())
  return sight
}

async function checkPayment(
  page: Page,
  seq: number,
  fields: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  for (const [name, value] of Object.entries(fields)) await page.locator(`input[name=${name}]`).fill(value)
  await page.locator('input[name=payment]').fill(String(seq))
  return await check(page, 'payment')
}

suite('the saved verifier, with RPC servers of the reader', () => {
  test('finds a payment final on the chain, and tells the log nothing of the servers', async () => {
    await using sight = await openSaved()
    const { page } = sight
    await assertNoViolations(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`))
    assert.deepEqual(await checkPayment(page, 7, { rpc: rpc.url }), [
      'verified',
      'verified',
      'verified',
      'not checked',
    ])
    assert.match(
      await stepsOf(page, 'payment'),
      /is final, in block \d+ 0x\w+, asked at 127\.0\.0\.1:\d+, chain id \d+/,
    )
    assert.match(await stepsOf(page, 'payment'), /The amount was not compared/)
    const toLog = asked.filter((one) => one.startsWith(base()))
    assert.ok(toLog.length > 0 && toLog.length < asked.length)
    assert.deepEqual(
      toLog.filter((one) => one.includes(KEY)),
      [],
    )
    assert.doesNotMatch(await stepsOf(page, 'payment'), new RegExp(KEY))
  })

  test('compares the amount with what the payer moved', async () => {
    await using sight = await openSaved()
    const { page } = sight
    const fields = { rpc: rpc.url, ...account }
    assert.deepEqual(await checkPayment(page, 8, fields), ['verified', 'verified', 'verified'])
    assert.match(await stepsOf(page, 'payment'), /The payer moved at least as much/)
    assert.deepEqual(await checkPayment(page, 9, fields), ['verified', 'verified', 'failed'])
    assert.match(
      await stepsOf(page, 'payment'),
      /payouts of 6\.000000000 name its transaction.* moved 5\.000000000/,
    )
  })

  for (const [name, path, from, to, marks, words] of [
    [
      'the proved amount is another in the list of the server',
      '**/events?tx=*',
      '"kots":"6.000000000"',
      '"kots":"5.000000000"',
      ['failed', 'not checked'],
      /The server lists event 9 with other content than was proved, or not at all/,
    ],
    [
      'the server names another event as its correction',
      '**/events/9/corrections',
      '"correctedBy":null',
      '"correctedBy":12',
      ['verified', 'failed', 'not checked'],
      /Event 12 does not correct event 9/,
    ],
    [
      'the server names a correction that the signed log lacks',
      '**/events/9/corrections',
      '"correctedBy":null',
      '"correctedBy":99',
      ['not checked'],
      /The signed log of 14 events has no event 99 yet/,
    ],
  ] as const) {
    test(`finds no amount right when ${name}`, async () => {
      await using sight = await openSaved()
      const { page } = sight
      await page.route(path, replaced(from, to))
      assert.deepEqual(await checkPayment(page, 9, { rpc: rpc.url, ...account }), [
        'verified',
        'verified',
        ...marks,
      ])
      assert.match(await stepsOf(page, 'payment'), words)
    })
  }

  test('says what it did not compare: further payouts of the transaction, and a corrected payout', async () => {
    await using sight = await openSaved()
    const { page } = sight
    const fields = { rpc: rpc.url, ...account }
    assert.deepEqual(await checkPayment(page, 13, fields), [
      'verified',
      'verified',
      'verified',
      'verified',
      'not checked',
    ])
    assert.match(await stepsOf(page, 'payment'), /The amount was not compared: this payout is corrected/)
    await page.route('**/events?tx=*', replaced('"hasMore":false', '"hasMore":true'))
    assert.deepEqual(await checkPayment(page, 8, fields), ['verified', 'verified', 'verified', 'not checked'])
    assert.match(await stepsOf(page, 'payment'), /not compared for the other payouts of the transaction/)
  })

  test('finds a failed payment, and one that nobody knows', async () => {
    await using sight = await openSaved()
    const { page } = sight
    assert.deepEqual(await checkPayment(page, 10, { rpc: rpc.url }), [
      'verified',
      'verified',
      'failed',
      'not checked',
    ])
    assert.match(await stepsOf(page, 'payment'), /Event 10: its transaction failed on the chain/)
    assert.deepEqual(await checkPayment(page, 11, { rpc: rpc.url }), [
      'verified',
      'verified',
      'failed',
      'not checked',
    ])
    assert.match(await stepsOf(page, 'payment'), /no server that was asked knows its transaction/)
  })

  test('says so when the browser cannot reach a server', async () => {
    await using sight = await openSaved()
    const { page } = sight
    for (const url of [closed.url, 'http://127.0.0.1:9/']) {
      assert.deepEqual(await checkPayment(page, 7, { rpc: url }), ['verified', 'verified', 'not checked'])
      assert.match(await stepsOf(page, 'payment'), /Too few RPC servers could be asked from here: .*\(CORS\)/)
    }
    assert.deepEqual(await checkPayment(page, 7, { rpc: 'ftp://rpc.example' }), [
      'verified',
      'verified',
      'not checked',
    ])
    assert.match(await stepsOf(page, 'payment'), /URL 1 is no http or https URL/)
  })

  test('asks about the transactions of a month after the month is proved', async () => {
    await using sight = await openSaved()
    const { page } = sight
    await page.locator('input[name=rpc]').fill(rpc.url)
    await page.locator('input[name=month]').fill('2026-04')
    const marks = await check(page, 'month')
    assert.equal(marks.filter((mark) => mark === 'failed').length, 2)
    const steps = await stepsOf(page, 'month')
    assert.match(steps, /seq 10: its transaction failed on the chain/)
    assert.match(steps, /seq 11: no server that was asked knows its transaction/)
    assert.match(steps, /3 of the 5 transactions of the month are final/)
  })
})

suite('the page of checks of a log with a blockchain', () => {
  test('asks no blockchain itself, and names the ways that do', async () => {
    const answer = await fetch(`${base()}/verify`)
    assert.match(answer.headers.get('content-security-policy') ?? '', /connect-src 'self';/)
    const page = await answer.text()
    assert.doesNotMatch(page, /name="(?:rpc|payer|token)"/)
    assert.match(page, /daybook -- verify \S+ --chain evm=https:/)
    assert.match(page, /This page does not ask the blockchain\./)
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
