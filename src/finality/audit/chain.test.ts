import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { SOLANA_FAILURE } from '../../../sim/chain/pretend-chain.ts'
import type { Faults } from '../../../sim/chain/rpc-faults.ts'
import { findingLines } from '../../../test/stage/audit-stage.ts'
import { auditedPayments, chainCheck, NOW, paidStageOf } from '../../../test/finality/audited-payments.ts'
import type { Payment } from '../../../test/story/paid-log.ts'
import { formatReport, isVerified } from '../../verify/report.ts'

const KINDS = ['solana', 'evm'] as const

for (const kind of KINDS) {
  suite(`a log of ${kind} payments`, () => {
    const stage = paidStageOf(kind)
    const { chain, payments, moving } = stage
    const others = payments.slice(1)

    test('is right when all of its transactions are final and moved what it says', async () => {
      const found = await auditedPayments(stage)
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
        const found = await auditedPayments(stage, { change: lie() })
        assert.equal(findingLines(found).length, 1)
        assert.match(findingLines(found).join('\n'), says)
        assert.ok(!isVerified(found))
      })
    }

    test('is right again once a false payment is corrected', async () => {
      const found = await auditedPayments(stage, {
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

    test('is sampled by a key that is drawn once its checkpoint is fixed, before its events are read', async () => {
      const order: string[] = []
      const drawKey = (): Uint8Array => {
        order.push('the key')
        return new Uint8Array(32)
      }
      await auditedPayments(stage, { drawKey, onRead: (path) => order.push(path) })
      const [before = '', after = ''] = order.join(' ').split(' the key ')
      assert.match(before, /log\/checkpoint/)
      assert.doesNotMatch(before, /jsonl|tile\/entries/)
      assert.match(after, /jsonl|tile\/entries/)
      assert.doesNotMatch(after, /log\/checkpoint/)
    })

    test('is wrong when a large payment is false, whatever the sample is', async () => {
      const change = [...payments, { tx: chain.txOf(99), tokens: 1_000 }]
      for (let key = 0; key < 3; key++) {
        const drawKey = (): Uint8Array => createHash('sha256').update(String(key)).digest()
        const found = await auditedPayments(stage, { change, sample: 1, largest: 1, drawKey, account: null })
        assert.deepEqual(findingLines(found), [
          'chain | seq 27: no server that was asked knows its transaction',
        ])
      }
    })

    test('is neither right nor wrong while the servers may not know the newest transactions', async () => {
      const change = [...others, { tx: chain.txOf(99), tokens: 5 }]
      const found = await auditedPayments(stage, { change, restMs: 60_000 })
      assert.deepEqual(findingLines(found), [])
      assert.deepEqual(chainCheck(found), {
        is: 'not checked',
        says: '1 of 20 transactions got no sure answer; 19 are right',
      })
    })

    const troubles: readonly (readonly [what: string, faults: readonly Faults[], says?: string])[] = [
      ['is down', [{ down: true }], 'unreachable'],
      ['limits its rate', [{ status: 429 }], 'rate-limited ('],
      ['cuts its answers', [{ cut: 'json' }], 'no-json'],
      ['answers with other ids', [{ wrongId: 'other' }], 'wrong-id'],
      ['answers with a page', [{ html: true }], 'no-json'],
      ['answers with a list of another length', [{ lengthOff: 1 }], 'wrong-length'],
      ['lies, and the other does not', [{}, { lies: 'failure' }]],
      ['names other blocks than the other', [{}, { blockShift: 1 }]],
      ['has lost its history, and the other has not', [{}, { historyMs: 3_000_000 }]],
    ]
    // The words of a server do not depend on the chain: each kind has every second such trouble.
    const own = troubles.filter(([, faults], at) => faults.length > 1 || at % 2 === KINDS.indexOf(kind))
    for (const [what, faults, says] of own) {
      test(`is neither right nor wrong when a server ${what}`, async () => {
        const found = await auditedPayments(stage, { faults })
        assert.deepEqual(findingLines(found), [])
        assert.equal(found.checks.find(({ name }) => name === 'chain')?.is, 'not checked')
        assert.ok(!isVerified(found), 'nothing was checked, which is no success')
        const report = formatReport(found, 'plain', '1 s')
        const told = /^Last fault of URL 1 \(127\.0\.0\.1:\d+\): (.*)\.$/m.exec(report)?.[1]
        assert.ok(says === undefined ? told === undefined : told?.startsWith(says), report)
      })
    }

    test('is wrong when only old transactions are unknown, with a hint that the history may be short', async () => {
      const old = chain.txOf(102)
      chain.send(old, { ...moving(5), sentAt: NOW - 7_000_000 })
      const change = [{ tx: old, tokens: 5 }, ...others]
      const found = await auditedPayments(stage, { change, faults: [{ historyMs: 5_000_000 }] })
      assert.deepEqual(findingLines(found), ['chain | seq 7: no server that was asked knows its transaction'])
      assert.match(
        formatReport(found, 'plain', '1 s'),
        /^Every unknown transaction is older than all known ones/m,
      )
      const missing = await auditedPayments(stage, { change: [...others, { tx: chain.txOf(99), tokens: 5 }] })
      assert.doesNotMatch(formatReport(missing, 'plain', '1 s'), /is older than all known ones/)
    })

    test('is neither right nor wrong when a server turns out to be of another chain', async () => {
      const found = await auditedPayments(stage, { faults: [{}, { otherChain: true }] })
      assert.deepEqual(findingLines(found), [])
      const { is, says } = found.checks.find(({ name }) => name === 'chain') ?? {}
      assert.equal(is, 'not checked')
      assert.match(says ?? '', /^URL 2 \(127\.0\.0\.1:\d+\) is of chain /)
      assert.ok(!isVerified(found))
    })

    test('is right when two of three servers agree', async () => {
      for (const fault of [{ down: true }, { lies: 'failure' }, { blockShift: 1 }] as const) {
        const found = await auditedPayments(stage, { faults: [{}, fault, {}] })
        assert.deepEqual(findingLines(found), [])
        assert.ok(isVerified(found))
      }
    })
  })
}
