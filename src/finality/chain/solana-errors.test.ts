import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import { transactionError } from './solana-errors.ts'

const wordsOf = (err: unknown): string => {
  try {
    return assert.fail(`it is ${transactionError(err, ['/SECRET/'])}`)
  } catch (error) {
    assert.ok(error instanceof RpcFailure)
    assert.equal(error.fault, 'wrong-type')
    return error.reply.message
  }
}

suite('an error of a Solana transaction', () => {
  test('is told in its own words when it is unknown, without keys and addresses', () => {
    assert.equal(wordsOf({}), 'unknown error of a transaction: {}')
    assert.equal(wordsOf('ProgramPaused'), 'unknown error of a transaction: ProgramPaused')
    assert.equal(wordsOf({ At: '/SECRET/' }), 'unknown error of a transaction: {"At":"…"}')
    const account = '7GgPYjS5Dza89wV6FpZ23kUJRG5vbQ1GM25ezspYFSoE'
    assert.equal(wordsOf({ Paused: account }), 'unknown error of a transaction: {"Paused":"…"}')
    assert.equal(wordsOf(undefined), 'unknown error of a transaction: none')
  })
})
