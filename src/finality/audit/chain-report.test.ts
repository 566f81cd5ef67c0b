import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf } from '../../../test/stage/audit-stage.ts'
import { auditedPayments, chainCheck, paidStageOf } from '../../../test/finality/audited-payments.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import { publicLog } from '../../../test/story/public-log.ts'
import { formatReport, isVerified } from '../../verify/report.ts'

suite('the report of a check against the chain', () => {
  const stage = paidStageOf('evm')

  test('states the arithmetic of the sample, the amounts, and the hosts without their keys', async () => {
    const found = await auditedPayments(stage, { sample: 8, largest: 2 })
    const report = formatReport(found, 'plain', '1 s')
    assert.match(report, /^ok {4}chain +10 of 20 transactions are final, and the payer moved/m)
    assert.match(
      report,
      /^The sample is 8 of 20 transactions, drawn at random after the checkpoint was fixed, and the 2 with the largest payouts\.$/m,
    )
    assert.match(report, /^If 1 of all 20 was false, a sample of 8 would miss it with a chance of 60\.0%\.$/m)
    assert.match(report, /In 0 transactions the payer moved more than their payouts say\.$/m)
    assert.match(report, /^Asked at 127\.0\.0\.1:\d+, chain id \d+\.$/m)
    assert.doesNotMatch(report, /secret-key/)
    for (const address of Object.values(stage.account)) assert.ok(!report.includes(address))
  })

  test('answers about the one transaction that the reader asks for', async () => {
    const line = async (number: number): Promise<string> => {
      const wanted = stage.chain.txOf(number).toUpperCase().replace('0X', '0x')
      const found = await auditedPayments(stage, { wanted, sample: 1, largest: 0 })
      return /^.* --tx.*$/m.exec(formatReport(found, 'plain', '1 s'))?.[0] ?? ''
    }
    for (const number of [0, 7]) {
      assert.match(
        await line(number),
        new RegExp(`^The transaction of --tx, seq ${number + 7}: it is final, in block \\d+ `),
      )
    }
    assert.equal(await line(99), 'No event of this log names the transaction of --tx.')
  })

  test('tells no fault of a server when the others were sure of every transaction', async () => {
    const found = await auditedPayments(stage, { faults: [{}, {}, { down: true }] })
    assert.ok(isVerified(found))
    assert.doesNotMatch(formatReport(found, 'plain', '1 s'), /Last fault/)
  })

  test('says that without payer and token it proves existence only', async () => {
    const report = formatReport(await auditedPayments(stage, { account: null }), 'plain', '1 s')
    assert.match(report, /^The sample is complete: 20 transactions\.$/m)
    assert.match(report, /proves only that a transaction exists, succeeded and is final\.$/m)
  })

  test('counts the transactions in which the payer moved more', async () => {
    const change = stage.payments.map((payment) => ({ ...payment, tokens: 4 }))
    const found = await auditedPayments(stage, { change })
    assert.ok(isVerified(found))
    assert.match(formatReport(found, 'plain', '1 s'), /In 20 transactions the payer moved more/)
  })

  test('says when the transactions are invented', async () => {
    const report = formatReport(await auditedPayments(stage, { isSimulated: true }), 'plain', '1 s')
    assert.match(report, /^This log is simulated: its transactions are invented/m)
  })

  test('has no line of the chain without a question to it', async () => {
    const found = await auditOf(publicLog(paidLog(stage.payments)))
    assert.equal(found.chain, null)
    assert.ok(!found.checks.some(({ name }) => name === 'chain'))
  })

  test('comes after its progress: each transaction, then each amount', async () => {
    const progress: (readonly [done: number, total: number])[] = []
    await auditedPayments(stage, {
      sample: 3,
      largest: 0,
      onProgress: (stageName, done, total) => stageName === 'chain' && progress.push([done, total]),
    })
    assert.deepEqual(
      progress,
      [3, 4, 5, 6].map((done) => [done, 6]),
    )
  })

  test('is not checked for a log without transactions', async () => {
    const found = await auditedPayments(stage, { change: [] })
    assert.deepEqual(chainCheck(found), { is: 'not checked', says: 'no event names a transaction' })
    assert.ok(isVerified(found))
  })
})
