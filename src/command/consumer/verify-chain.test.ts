import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { openPretendChain } from '../../../sim/chain/pretend-chain.ts'
import type { RpcServer } from '../../../sim/chain/rpc-server.ts'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import type { RunResult } from '../../../test/stage/command-stage.ts'
import { run, worldOf } from '../../../test/stage/command-stage.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import type { PublicLog } from '../../../test/story/public-log.ts'
import { publicLog } from '../../../test/story/public-log.ts'
import { openChainQuestions } from './verify-chain.ts'

const NOW = Date.UTC(2026, 5, 1)
const KEY = 'secret-key'

const names = openPretendChain({ kind: 'evm', seed: 'command', now: () => NOW })
const account = { payer: names.addressOf('payer'), token: names.addressOf('token') }
const chain = openPretendChain({
  kind: 'evm',
  seed: 'command',
  now: () => NOW,
  startedAt: NOW - 7_200_000,
  tokens: { [account.token]: 6 },
})
const transfers = [{ ...account, payee: chain.addressOf('player'), units: 5_000_000n }]
const payments = [0, 1, 2, 3].map((number) => ({ tx: chain.txOf(number), tokens: 5 }))
for (const { tx } of payments) chain.send(tx, { sentAt: NOW - 3_600_000, transfers })

const honest = publicLog(paidLog(payments))
const lying = publicLog(paidLog([...payments, { tx: chain.txOf(9), tokens: 5 }]))

let rpc: RpcServer
let other: RpcServer
let folder: string
before(async () => {
  rpc = await openRpcServer({ chain, path: `/${KEY}` })
  other = await openRpcServer({ chain: openPretendChain({ kind: 'evm', seed: 'other', now: () => NOW }) })
  folder = mkdtempSync(join(tmpdir(), 'daybook-verify-chain-'))
})
after(async () => {
  await rpc.close()
  await other.close()
  rmSync(folder, { recursive: true })
})

/** A service that answers with the files of a log, and with this status. */
async function serve(log: PublicLog, status: unknown): Promise<Readonly<{ url: string }> & AsyncDisposable> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice('/api/v1/'.length)
    const body = path === 'status' ? Buffer.from(JSON.stringify(status)) : log.body(path)
    response.writeHead(body === undefined ? 404 : 200).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close }
}

function verify(log: PublicLog, target: string, ...words: readonly string[]): Promise<RunResult> {
  return run(['verify', target, '--key', log.key.vkey, ...words], { now: () => log.now })
}

/** Verifies a served log. */
async function verifyServed(
  log: PublicLog,
  status: unknown,
  ...words: readonly string[]
): Promise<RunResult> {
  await using service = await serve(log, status)
  return await verify(log, service.url, ...words)
}

const EVM = { chain: 'evm', simulated: false }
const asked = (): readonly string[] => ['--chain', `evm=${rpc.url}`]

suite('daybook verify --chain', () => {
  test('reports what the chain says, and exits with 0 when all of it is right', async () => {
    const words = ['--payer', account.payer, '--token', account.token]
    const { code, stdout } = await verifyServed(honest, EVM, ...asked(), ...words)
    assert.match(
      stdout,
      /^ok {4}chain +4 of 4 transactions are final, and the payer moved at least what their payouts say$/m,
    )
    assert.match(stdout, /^Asked at 127\.0\.0\.1:\d+, chain id \d+\.$/m)
    assert.equal(code, 0)
  })

  test('exits with 1 when a transaction is unknown, and names its seq', async () => {
    const { code, stdout } = await verifyServed(lying, EVM, ...asked())
    assert.match(stdout, /^WRONG chain +seq 11: no server that was asked knows its transaction$/m)
    assert.doesNotMatch(stdout, /would miss/, 'the chance to find none says nothing once one is found')
    assert.equal(code, 1)
  })

  test('says that the transactions of a simulated log are invented', async () => {
    const { stdout } = await verifyServed(honest, { ...EVM, simulated: true }, ...asked())
    assert.match(stdout, /^This log is simulated: its transactions are invented/m)
  })

  test('draws its sample by randomness of its own, another one each time', async () => {
    const options = { chain: `evm=${rpc.url}`, sample: 1, largest: 1, chainRequests: 1_000 }
    const questions = await openChainQuestions(options, honest.source(), worldOf({}))
    const keys = [1, 2].map(() => questions?.drawKey() ?? assert.fail('the chain is asked'))
    assert.deepEqual(
      keys.map(({ length }) => length),
      [32, 32],
    )
    assert.notDeepEqual(keys[0], keys[1])
  })

  test('works on a folder', async () => {
    for (const path of [
      'log/checkpoint',
      'log/keys',
      'archive/2026-04.jsonl.gz',
      'archive/2026-04.details.jsonl.gz',
    ]) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, honest.body(path) ?? assert.fail(path))
    }
    const { code, stdout } = await verify(honest, folder, ...asked())
    assert.match(stdout, /^ok {4}chain +4 of 4 transactions are final$/m)
    assert.equal(code, 0)
    const { stdout: wrong, code: failed } = await verify(honest, folder, '--chain', `solana=${rpc.url}`)
    assert.match(wrong, /chain +seq 7: names no transaction of solana/)
    assert.equal(failed, 1)
  })

  test('exits with 1 when no server answers, because nothing was checked', async () => {
    const { code, stdout } = await verifyServed(honest, EVM, '--chain', 'evm=http://127.0.0.1:9/')
    assert.match(stdout, /^- {5}chain +not checked: too few RPC servers answered$/m)
    assert.match(stdout, /^NOT VERIFIED;/m)
    assert.equal(code, 1)
  })

  const refusals: readonly (readonly [
    what: string,
    status: unknown,
    words: () => readonly string[],
    says: RegExp,
  ])[] = [
    ['an opaque log', { ...EVM, chain: 'opaque' }, asked, /--chain: this log does not name its chain/],
    ['a log of another chain', { ...EVM, chain: 'solana' }, asked, /are not of evm: give the chain/],
    [
      'another word than a chain',
      EVM,
      () => ['--chain', `opaque=${rpc.url}`],
      /give solana=URL,URL,URL or evm=/,
    ],
    ['no URL', EVM, () => ['--chain', 'evm=ftp://rpc.example'], /--chain: URL 1 is no http or https URL/],
    ['servers of two chains', EVM, () => ['--chain', `evm=${rpc.url},${other.url}`], /--chain: URL 2 \(127/],
    ['a payer alone', EVM, () => [...asked(), '--payer', account.payer], /--payer and --token go together/],
    [
      'amounts without a chain',
      EVM,
      () => ['--payer', account.payer, '--token', account.token],
      /need --chain/,
    ],
    [
      'another form than a transaction',
      EVM,
      () => [...asked(), '--tx', KEY],
      /--tx is no transaction of evm/,
    ],
    [
      'no address',
      EVM,
      () => [...asked(), '--payer', 'x', '--token', account.token],
      /--payer is no address of evm/,
    ],
  ]
  for (const [what, status, words, says] of refusals) {
    test(`refuses ${what}, and repeats no URL or address`, async () => {
      const { code, stderr, stdout } = await verifyServed(honest, status, ...words())
      assert.match(stderr, says)
      assert.deepEqual([code, stdout], [2, ''])
      for (const secret of [KEY, account.payer, account.token]) assert.ok(!stderr.includes(secret))
    })
  }
})
