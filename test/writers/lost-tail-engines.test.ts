import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { logStoreOf } from '../../src/command/operator/log-store-options.ts'
import type { LogStoreSettings } from '../../src/publish/cluster/log-store-settings.ts'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { hasPostgres } from '../outbox/postgres-server.ts'
import { skipUnless } from '../stage/test-needs.ts'
import type { LossyEngine } from './lossy-engine.ts'
import { openLossyNats, openLossyPostgres } from './lossy-engine.ts'
import type { QuietWriter } from './quiet-writer.ts'
import { openQuietWriter } from './quiet-writer.ts'
import { openWritersStage } from './writers-stage.ts'
import { until } from '../processes/other-program.ts'

/** Publishes a draft as soon as the writer takes it. Returns its seq. */
async function publish(writer: QuietWriter, ref: string): Promise<number> {
  let seq = 0
  await until(`${ref} is published`, async () => {
    const outcome = await writer.publish(ref)
    seq = outcome.ok ? (outcome.receipts[0]?.seq ?? 0) : 0
    return outcome.ok
  })
  return seq
}

const headOf = ({ shared }: QuietWriter): number => shared.book.appender.head().seq
const treeOf = ({ shared }: QuietWriter): string => shared.book.checkpoint()
const stopOf = ({ shared }: QuietWriter): string | undefined => shared.state()?.stopped?.is

function testLostTail(
  name: string,
  open: () => Promise<LossyEngine>,
  ready: Readonly<Record<'skip', string | false>>,
): void {
  suite(`with ${name}`, { ...ready, timeout: 300_000, concurrency: 1 }, () => {
    const stack = new AsyncDisposableStack()
    let engine: LossyEngine
    let stage: Awaited<ReturnType<typeof openWritersStage>>
    let a: QuietWriter
    let b: QuietWriter
    before(async () => {
      engine = stack.use(await open())
      stage = stack.use(await openWritersStage(engine, 'opaque'))
      ;[a, b] = await Promise.all([start('a'), start('b')])
    })
    after(() => stack.disposeAsync())
    const start = async (nodeName: string): Promise<QuietWriter> => {
      const given = { logStore: engine.url, nodeName }
      const secret = join(stage.folder, 'credentials')
      const options = engine.credentials === null ? given : { ...given, logStoreCredentials: secret }
      return stack.use(await openQuietWriter(stage.folder, logStoreOf(options) as LogStoreSettings))
    }

    test('offers the messages that it has kept again: same bytes, same places', async () => {
      await publish(a, 'kept')
      const restore = await engine.remember()
      for (const ref of ['lost 1', 'lost 2']) await publish(a, ref)
      await until('b has all', async () => headOf(b) === 3)
      const served = treeOf(a)
      const whole = await engine.messages()
      await restore()
      await until('one offers them again', async () =>
        [...a.notices, ...b.notices].some(({ is }) => is === 'offered-again'),
      )
      assert.deepEqual(await engine.messages(), whole)
      assert.equal(treeOf(a), served)
      assert.equal(await publish(b, 'after'), 4)
      await until('a has it', async () => headOf(a) === 4)
      assert.equal(treeOf(a), treeOf(b))
    })

    test('keeps both branches as evidence and stops, as the others do, when its place is taken', async () => {
      const restore = await engine.remember()
      await b[Symbol.asyncDispose]()
      assert.equal(await publish(a, 'served by a alone'), 5)
      const served = treeOf(a)
      await a[Symbol.asyncDispose]()
      await restore()
      b = await start('b')
      assert.equal(await publish(b, 'of b'), 5, 'b has waited for a in vain')
      assert.deepEqual(b.shared.state()?.silent, ['a'])
      a = await start('a')
      await until('both stop', async () => [a, b].every((one) => stopOf(one) === 'fork'))
      assert.equal(treeOf(a), served, 'a serves what it has served')
      assert.notEqual(treeOf(a), treeOf(b))
      await until('both have evidence', async () =>
        [a, b].every(({ notices }) => notices.some(({ is }) => is === 'evidence')),
      )
      const branch = ({ data }: QuietWriter, whose: string): Buffer =>
        readFileSync(join(data, 'evidence', `stream-1-${whose}`))
      assert.ok(branch(a, 'ours').includes('served by a alone'))
      assert.ok(branch(a, 'engine').includes('of b'))
      assert.ok(branch(b, 'ours').includes('of b'))
      for (const one of [a, b]) {
        const outcome = await one.publish('too late')
        assert.equal(outcome.ok ? 'published' : outcome.code, 'store-unavailable')
      }
    })
  })
}

suite('a writer whose engine loses its tail', { concurrency: true }, () => {
  testLostTail('NATS', openLossyNats, { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) })
  testLostTail('PostgreSQL', openLossyPostgres, { skip: skipUnless(hasPostgres, 'postgresql') })
})
