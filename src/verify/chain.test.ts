import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import type { ChainKind, Fate, PretendChain } from '../../sim/chain/pretend-chain.ts'
import { openPretendChain, SOLANA_FAILURE } from '../../sim/chain/pretend-chain.ts'
import type { Faults } from '../../sim/chain/rpc-faults.ts'
import { openRpcServer } from '../../sim/chain/rpc-server.ts'
import { auditOf, findingLines } from '../../test/stage/audit-stage.ts'
import type { Payment } from '../../test/story/paid-log.ts'
import { paidLog } from '../../test/story/paid-log.ts'
import { publicLog } from '../../test/story/public-log.ts'
import { openChain } from '../chain/open-chain.ts'
import type { ChainQuestions } from './ask-chain.ts'
import type { Audit } from './audit.ts'
import { formatReport, isVerified } from './report.ts'

const NOW = Date.UTC(2026, 5, 1)
const DECIMALS = 6
const KINDS = ['solana', 'evm'] as const

/** A chain on which `payer` has sent 20 payments of 5 tokens an hour ago, and the log that names them. */
type Stage = Readonly<{
  chain: PretendChain
  account: Readonly<{ payer: string; token: string }>
  payments: readonly Payment[]
  /** Course of a transaction that moves so many tokens. */
  moving(tokens: number): Fate
}>

function stageOf(kind: ChainKind): Stage {
  const named = openPretendChain({ kind, seed: 'verify', now: () => NOW })
  const account = { payer: named.addressOf('payer'), token: named.addressOf('token') }
  const chain = openPretendChain({
    kind,
    seed: 'verify',
    now: () => NOW,
    startedAt: NOW - 7_200_000,
    tokens: { [account.token]: DECIMALS },
  })
  const moving = (tokens: number): Fate => {
    const transfer = { ...account, payee: chain.addressOf('player'), units: BigInt(tokens) * 10n ** 6n }
    return { sentAt: NOW - 3_600_000, transfers: [transfer] }
  }
  const payments = Array.from({ length: 20 }, (_, index) => ({ tx: chain.txOf(index), tokens: 5 }))
  for (const { tx } of payments) chain.send(tx, moving(5))
  return { chain, account, payments, moving }
}

/** Audits a log of these payments against servers with these faults. */
async function audited(
  { chain, payments, account }: Stage,
  {
    faults = [{}],
    restMs = 3_600_000,
    change,
    ...more
  }: Partial<ChainQuestions> &
    Readonly<{ faults?: readonly Faults[]; restMs?: number; change?: readonly Payment[] }> = {},
): Promise<Audit> {
  await using opened = new AsyncDisposableStack()
  const servers = await Promise.all(
    faults.map(async (own) => opened.use(await openRpcServer({ chain, faults: own, path: '/secret-key' }))),
  )
  const urls = servers.map(({ url }) => url)
  const { signal } = new AbortController()
  const settings = { chain: chain.kind, urls, signal, timeoutMs: 2_000, now: () => performance.now() }
  const questions: ChainQuestions = {
    chain: chain.kind,
    client: openChain(settings),
    hosts: urls.map((url) => new URL(url).host),
    account,
    isSimulated: false,
    sample: 100,
    largest: 3,
    drawKey: () => createHash('sha256').update('key').digest(),
    pause: async () => undefined,
    ...more,
  }
  const log = publicLog(paidLog(change ?? payments, restMs))
  // The servers close when this function returns.
  return await auditOf(log, undefined, { chain: questions })
}

const chainCheck = (found: Audit): unknown => {
  const { is, says } = found.checks.find(({ name }) => name === 'chain') ?? {}
  return { is, says }
}

for (const kind of KINDS) {
  suite(`a log of ${kind} payments`, () => {
    const stage = stageOf(kind)
    const { chain, payments, moving } = stage
    const others = payments.slice(1)

    test('is right when all of its transactions are final and moved what it says', async () => {
      const found = await audited(stage)
      assert.deepEqual(findingLines(found), [])
      assert.deepEqual(chainCheck(found), {
        is: 'right',
        says: '20 of 20 transactions are final, and the payer moved at least what their payouts say',
      })
      assert.ok(isVerified(found))
    })

    const lies: readonly (readonly [what: string, lie: () => readonly Payment[], says: RegExp])[] = [
      [
        'does not exist',
        () => [{ tx: chain.txOf(99), tokens: 5 }, ...others],
        /^chain \| seq 7: no server that was asked knows its transaction$/,
      ],
      [
        'failed',
        () => {
          const tx = chain.txOf(100)
          chain.send(tx, { ...moving(5), error: SOLANA_FAILURE })
          return [{ tx, tokens: 5 }, ...others]
        },
        /^chain \| seq 7: its transaction failed on the chain \((?:slot|block) \d+/,
      ],
      [
        'is not final',
        () => {
          const tx = chain.txOf(101)
          const sentAt = NOW - (kind === 'evm' ? 60_000 : 4_000)
          chain.send(tx, { ...moving(5), sentAt })
          return [...others, { tx, tokens: 5 }]
        },
        /^chain \| seq 26: its transaction is not final$/,
      ],
      [
        'moved less',
        () => [{ tx: chain.txOf(0), tokens: 6 }, ...others],
        /^chain \| seq 7: payouts of 6\.000000000 name its transaction, in which the payer moved 5\.000000000$/,
      ],
      [
        'is named by payouts of more than it moved',
        () => [...payments, { tx: chain.txOf(0), tokens: 1 }],
        /^chain \| seq 7, 27: payouts of 6\.000000000 name its transaction, in which the payer moved 5\.000000000$/,
      ],
      [
        'has not the form of the chain',
        () => [{ tx: 'opaque-one', tokens: 6 }, ...others],
        new RegExp(String.raw`^chain \| seq 7: names no transaction of ${kind}$`),
      ],
    ]
    for (const [what, lie, says] of lies) {
      test(`is wrong when a transaction ${what}`, async () => {
        const found = await audited(stage, { change: lie() })
        assert.equal(findingLines(found).length, 1)
        assert.match(findingLines(found).join('\n'), says)
        assert.ok(!isVerified(found))
      })
    }

    test('is right again once a false payment is corrected', async () => {
      const found = await audited(stage, {
        change: [
          ...payments,
          { tx: chain.txOf(99), tokens: 5 },
          { tx: chain.txOf(0), tokens: 1 },
          { corrects: 20 },
          { corrects: 21 },
        ],
      })
      assert.deepEqual(findingLines(found), [])
      assert.ok(isVerified(found))
    })

    test('is wrong when a large payment is false, whatever the sample is', async () => {
      const change = [...payments, { tx: chain.txOf(99), tokens: 1_000 }]
      for (let key = 0; key < 5; key++) {
        const drawKey = (): Uint8Array => createHash('sha256').update(String(key)).digest()
        const found = await audited(stage, { change, sample: 1, largest: 1, drawKey, account: null })
        assert.deepEqual(findingLines(found), [
          'chain | seq 27: no server that was asked knows its transaction',
        ])
      }
    })

    test('is neither right nor wrong while the servers may not know the newest transactions', async () => {
      const change = [...others, { tx: chain.txOf(99), tokens: 5 }]
      const found = await audited(stage, { change, restMs: 60_000 })
      assert.deepEqual(findingLines(found), [])
      assert.deepEqual(chainCheck(found), {
        is: 'not checked',
        says: '1 of 20 transactions got no sure answer; 19 are right',
      })
    })

    const troubles: readonly (readonly [what: string, faults: readonly Faults[]])[] = [
      ['is down', [{ down: true }]],
      ['limits its rate', [{ status: 429 }]],
      ['cuts its answers', [{ cut: 'json' }]],
      ['answers with other ids', [{ wrongId: 'other' }]],
      ['answers with a page', [{ html: true }]],
      ['answers with a list of another length', [{ lengthOff: 1 }]],
      ['lies, and the other does not', [{}, { lies: 'failure' }]],
      ['names other blocks than the other', [{}, { blockShift: 1 }]],
      ['has lost its history, and the other has not', [{}, { historyMs: 3_000_000 }]],
    ]
    for (const [what, faults] of troubles) {
      test(`is neither right nor wrong when a server ${what}`, async () => {
        const found = await audited(stage, { faults })
        assert.deepEqual(findingLines(found), [])
        assert.equal(found.checks.find(({ name }) => name === 'chain')?.is, 'not checked')
        assert.ok(!isVerified(found), 'nothing was checked, which is no success')
      })
    }

    test('is wrong when only old transactions are unknown, with a hint that the history may be short', async () => {
      const old = chain.txOf(102)
      chain.send(old, { ...moving(5), sentAt: NOW - 7_000_000 })
      const change = [{ tx: old, tokens: 5 }, ...others]
      const found = await audited(stage, { change, faults: [{ historyMs: 5_000_000 }] })
      assert.deepEqual(findingLines(found), ['chain | seq 7: no server that was asked knows its transaction'])
      assert.match(
        formatReport(found, 'plain', '1 s'),
        /^Every unknown transaction is older than all known ones/m,
      )
      const missing = await audited(stage, { change: [...others, { tx: chain.txOf(99), tokens: 5 }] })
      assert.doesNotMatch(formatReport(missing, 'plain', '1 s'), /is older than all known ones/)
    })

    test('is neither right nor wrong when a server turns out to be of another chain', async () => {
      const found = await audited(stage, { faults: [{}, { otherChain: true }] })
      assert.deepEqual(findingLines(found), [])
      const { is, says } = found.checks.find(({ name }) => name === 'chain') ?? {}
      assert.equal(is, 'not checked')
      assert.match(says ?? '', /^URL 2 \(127\.0\.0\.1:\d+\) is of chain /)
      assert.ok(!isVerified(found))
    })

    test('is right when two of three servers agree', async () => {
      for (const fault of [{ down: true }, { lies: 'failure' }, { blockShift: 1 }] as const) {
        const found = await audited(stage, { faults: [{}, fault, {}] })
        assert.deepEqual(findingLines(found), [])
        assert.ok(isVerified(found))
      }
    })
  })
}

suite('the report of a check against the chain', () => {
  const stage = stageOf('evm')

  test('states the arithmetic of the sample, the amounts, and the hosts without their keys', async () => {
    const found = await audited(stage, { sample: 8, largest: 2 })
    const report = formatReport(found, 'plain', '1 s')
    assert.match(report, /^ok {4}chain +10 of 20 transactions are final, and the payer moved/m)
    assert.match(
      report,
      /^The sample is 8 of 20 transactions, drawn at random after the checkpoint was fixed, and the 2 with the largest payouts\.$/m,
    )
    assert.match(
      report,
      /^If 1 of all 20 was false, the 8 found right would miss it with a chance of 60\.0 %\.$/m,
    )
    assert.match(report, /^Asked at 127\.0\.0\.1:\d+, chain id \d+\.$/m)
    assert.doesNotMatch(report, /secret-key/)
    for (const address of Object.values(stage.account)) assert.ok(!report.includes(address))
  })

  test('says that without payer and token it proves existence only', async () => {
    const report = formatReport(await audited(stage, { account: null }), 'plain', '1 s')
    assert.match(report, /^The sample is all 20 transactions\.$/m)
    assert.match(report, /proves only that a transaction exists, succeeded and is final\.$/m)
  })

  test('counts the transactions in which the payer moved more', async () => {
    const change = stage.payments.map((payment) => ({ ...payment, tokens: 4 }))
    const found = await audited(stage, { change })
    assert.ok(isVerified(found))
    assert.match(formatReport(found, 'plain', '1 s'), /In 20 transactions the payer moved more/)
  })

  test('says when the transactions are invented', async () => {
    const report = formatReport(await audited(stage, { isSimulated: true }), 'plain', '1 s')
    assert.match(report, /^This log is simulated: its transactions are invented/m)
  })

  test('has no line of the chain without a question to it', async () => {
    const found = await auditOf(publicLog(paidLog(stage.payments)))
    assert.equal(found.chain, null)
    assert.ok(!found.checks.some(({ name }) => name === 'chain'))
  })

  test('is not checked for a log without transactions', async () => {
    const found = await audited(stage, { change: [] })
    assert.deepEqual(chainCheck(found), { is: 'not checked', says: 'no event names a transaction' })
    assert.ok(isVerified(found))
  })
})
