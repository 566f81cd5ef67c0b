import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { openPretendChain } from '../../../sim/chain/pretend-chain.ts'
import { openRpcServer, type RpcServer } from '../../../sim/chain/rpc-server.ts'
import { contextOf } from '../../../test/stage/command-stage.ts'
import {
  account,
  chain,
  EVM,
  FAILED,
  honest,
  KEY,
  lyingWith,
  NOW,
  verify,
  verifyServed,
} from '../../../test/finality/verify-chain-stage.ts'
import { readChainCheck } from './verify-chain.ts'

let rpc: RpcServer
let other: RpcServer
let solana: RpcServer
let folder: string
before(async () => {
  rpc = await openRpcServer({ chain, path: `/${KEY}` })
  other = await openRpcServer({ chain: openPretendChain({ kind: 'evm', seed: 'other', now: () => NOW }) })
  solana = await openRpcServer({ chain: openPretendChain({ kind: 'solana', seed: 'other', now: () => NOW }) })
  folder = mkdtempSync(join(tmpdir(), 'daybook-verify-chain-'))
})
after(async () => {
  await rpc.close()
  await other.close()
  await solana.close()
  rmSync(folder, { recursive: true })
})

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

  test('exits with 1 when a transaction failed, and names its seq', async () => {
    const { code, stdout } = await verifyServed(lyingWith(FAILED), EVM, ...asked())
    assert.match(stdout, /^WRONG chain +seq 11: its transaction failed on the chain/m)
    assert.doesNotMatch(stdout, /would miss/, 'the chance to find none says nothing once one is found')
    assert.equal(code, 1)
  })

  test('says that the transactions of a simulated log are invented', async () => {
    const { stdout } = await verifyServed(honest, { ...EVM, simulated: true }, ...asked())
    assert.match(stdout, /^This log is simulated: its transactions are invented/m)
  })

  test('draws its sample by randomness of its own, another one each time', async () => {
    const options = { chain: `evm=${rpc.url}`, sample: 1, largest: 1, chainRequests: 1_000 }
    const questions = await readChainCheck(options, honest.source(), contextOf({}))
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
    const { stdout: wrong, code: failed } = await verify(honest, folder, '--chain', `solana=${solana.url}`)
    assert.match(wrong, /chain +seq 7: names no transaction of solana/)
    assert.equal(failed, 1)
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
