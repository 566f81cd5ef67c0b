import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askInBatches, type BatchLimit, openBatchLimit } from './batch-limit.ts'
import { RpcFailure, type RpcFault } from './rpc-failure.ts'

const PARTS = Array.from({ length: 20 }, (_, at) => at)

type Asked = Readonly<{ sizes: number[]; done: number[]; reported: RpcFault[]; failure: RpcFault | null }>

/** Asks for 20 parts. `fault` says how the server fails for a batch. */
async function ask(
  limit: BatchLimit,
  fault: (batch: readonly number[]) => RpcFault | null = () => null,
): Promise<Asked> {
  const sizes: number[] = []
  const done: number[] = []
  const reported: RpcFault[] = []
  const work = askInBatches(
    limit,
    PARTS,
    async (batch, from) => {
      sizes.push(batch.length)
      assert.equal(batch[0], from)
      const failed = fault(batch)
      if (failed !== null) throw new RpcFailure(failed)
      done.push(...batch)
    },
    (failed) => reported.push(failed.fault),
  )
  const failure = await work.then(
    () => null,
    (error: RpcFailure) => error.fault,
  )
  return { sizes, done, reported, failure }
}

const above =
  (max: number) =>
  (batch: readonly number[]): RpcFault | null =>
    batch.length > max ? 'refused' : null

suite('a batch', () => {
  test('is halved when the server refuses it, and the size that passed is kept', async () => {
    const limit = openBatchLimit(16)
    const first = await ask(limit, above(5))
    assert.deepEqual(first.sizes, [16, 8, 4, 4, 4, 4, 4])
    assert.deepEqual(first.done, PARTS)
    assert.deepEqual((await ask(limit, above(5))).sizes, [4, 4, 4, 4, 4])
  })

  test('goes down to one part for a server that takes no batches', async () => {
    const limit = openBatchLimit(16)
    assert.deepEqual((await ask(limit, above(1))).done, PARTS)
    assert.deepEqual(
      (await ask(limit, above(1))).sizes,
      PARTS.map(() => 1),
    )
  })

  test('is halved when its answer is too long', async () => {
    const limit = openBatchLimit(16)
    assert.deepEqual((await ask(limit, (batch) => (batch.length > 8 ? 'too-long' : null))).done, PARTS)
    assert.equal(limit.size, 8)
  })

  test('costs few requests to a server that refuses everything, and keeps its size', async () => {
    const limit = openBatchLimit(256)
    const { sizes, failure, reported } = await ask(limit, () => 'refused')
    assert.deepEqual([failure, reported], ['refused', ['refused']])
    assert.ok(sizes.length < 15, `${sizes.length}`)
    assert.equal(limit.size, 256)
  })

  test('loses only the one part that the server refuses alone', async () => {
    const limit = openBatchLimit(16)
    const { done, reported, failure } = await ask(limit, (batch) => (batch.includes(5) ? 'refused' : null))
    assert.deepEqual(
      done,
      PARTS.filter((part) => part !== 5),
    )
    assert.deepEqual([reported, failure, limit.size], [['refused'], null, 16])
  })

  test('that is late stops the questions, is shorter the next time, and grows again', async () => {
    const limit = openBatchLimit(16)
    const late = await ask(limit, () => 'timeout')
    assert.deepEqual([late.sizes, late.failure, limit.size], [[16], 'timeout', 8])
    assert.deepEqual((await ask(limit)).sizes, [8, 8, 4])
    assert.deepEqual((await ask(limit)).sizes, [16, 4])
  })

  test('of a server that is down stops the questions', async () => {
    assert.deepEqual((await ask(openBatchLimit(8), () => 'unreachable')).sizes, [8])
  })
})
