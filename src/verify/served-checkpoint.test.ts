import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RICH_LOG } from '../../test/stage/audit-stage.ts'
import { checkpointOver, newKey, publicLog } from '../../test/story/public-log.ts'
import { NODE_PRIMITIVES } from '../command/terminal/node-primitives.ts'
import type { Source } from './reading/source.ts'
import { askCheckpoint, askTrust, type OwnKeys } from './served-checkpoint.ts'
import type { Trust } from './trust.ts'

const log = publicLog(RICH_LOG)
const size = RICH_LOG.length
const { vkey } = log.key

const trust = (own: Partial<OwnKeys>, source = log.source()): Promise<Trust> =>
  askTrust(source, { given: [], keptOf: () => [], ...own }, NODE_PRIMITIVES)

suite('the first trusted key', () => {
  test('is the one that the user gives, then one kept earlier, then a served one', async () => {
    const keptOf = (): readonly string[] => [vkey]
    const bases = [
      await trust({ given: [vkey], keptOf: () => [newKey().vkey] }),
      await trust({ keptOf }),
      await trust({}),
    ].map(({ basis }) => basis)
    assert.deepEqual(bases, ['given', 'kept', 'served'])
  })

  const lacking = (is: Source['is']): Source => ({
    ...log.source((path, body) => (path === 'log/keys' ? undefined : body)),
    is,
  })

  test('is enough for a folder without the list of keys, when the user gives it', async () => {
    const { origin, basis, keys } = await trust({ given: [vkey] }, lacking('folder'))
    assert.deepEqual([origin, basis, keys.length], [log.key.key.name, 'given', 1])
    await assert.rejects(trust({}, lacking('folder')), /log\/keys: is missing: give the key of the log/)
  })

  test('is not enough for a service without the list of keys', async () => {
    await assert.rejects(trust({ given: [vkey] }, lacking('service')), /log\/keys: is missing$/)
  })
})

suite('the newest checkpoint of a log', () => {
  /** Asks a node that is behind for some questions, for a checkpoint that covers so many events. */
  async function asked(
    behindFor: number,
    covers: number,
    is: Source['is'] = 'service',
  ): Promise<Readonly<{ size: number; pausesMs: readonly number[] }>> {
    const older = Buffer.from(checkpointOver(RICH_LOG, size - 1, log.key))
    let questions = 0
    const source = log.source((path, body) => {
      if (path !== 'log/checkpoint') return body
      questions += 1
      return questions > behindFor ? body : older
    })
    const pausesMs: number[] = []
    const pause = async (ms: number): Promise<void> => void pausesMs.push(ms)
    const given = await trust({ given: [vkey] })
    const { checkpoint } = await askCheckpoint({ ...source, is, pause }, given, covers, NODE_PRIMITIVES)
    return { size: checkpoint.size, pausesMs }
  }

  test('is asked for again, a second later each time, while a node is behind', async () => {
    assert.deepEqual(await asked(0, size), { size, pausesMs: [] })
    assert.deepEqual(await asked(1, size - 1), { size: size - 1, pausesMs: [] })
    assert.deepEqual(await asked(1, size), { size, pausesMs: [1_000] })
    assert.deepEqual(await asked(4, size), { size, pausesMs: [1_000, 1_000, 1_000, 1_000] })
  })

  test('is taken as it is after five questions, and of a folder at once', async () => {
    assert.deepEqual(await asked(5, size), { size: size - 1, pausesMs: [1_000, 1_000, 1_000, 1_000] })
    assert.deepEqual(await asked(5, size, 'folder'), { size: size - 1, pausesMs: [] })
  })
})
