import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { PUBLISH_TOKEN, trade } from '../../../test/stage/publish-stage.ts'
import { until } from '../../../test/processes/other-program.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { readyLog } from '../../log/tree/ready-log.ts'
import { ALIVE, type OperationsAnswer, READY_MS_MAX } from '../api/operations.ts'
import { startWriter, type Writer } from './writer.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Data directory of a writer, and the paths that it said were replaced. */
type WriterPlace = Readonly<{ folder: string; replaced: readonly string[] }>

/** Starts a writer on a new log, with a main thread that answers by `operations`. */
async function withWriter(
  operations: () => Promise<OperationsAnswer>,
  run: (writer: Writer, failures: readonly string[], place: WriterPlace) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-writer-'))
  const newLog = { origin: 'daybook.test/writer', chain: 'opaque', simulated: false } as const
  readyLog(folder, newLog, { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false })
  const failures: string[] = []
  const replaced: string[] = []
  const settings = {
    dataDirectory: folder,
    head: openHeadCell().buffer,
    host: '127.0.0.1',
    port: 0,
    tokens: [PUBLISH_TOKEN],
    balances: 'refuse',
    judge: null,
    acceptClock: false,
    tellsAccepted: false,
    keys: [TEST_KEY],
    carrier: null,
  } as const
  try {
    await using writer = await startWriter(settings, {
      committed: () => undefined,
      held: () => undefined,
      requests: () => undefined,
      irregular: () => undefined,
      crowded: () => undefined,
      room: () => undefined,
      replaced: (file) => replaced.push(file),
      clock: () => undefined,
      judge: () => undefined,
      followed: () => undefined,
      carrier: () => undefined,
      failure: (reason) => failures.push(reason),
      broken: (reason) => assert.fail(reason),
      operations,
    })
    await run(writer, failures, { folder, replaced })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function publish(writer: Writer, ref: string): Promise<number> {
  return (await sendTrade(writer, ref)).status
}

async function sendTrade({ port }: Writer, ref: string): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${PUBLISH_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify([trade(ref)]),
  })
}

suite('the writer', () => {
  test('answers 500 when the main thread fails to answer, reports the cause, and continues', () =>
    withWriter(
      () => Promise.reject(new Error('a collector fails')),
      async (writer, failures) => {
        const { status } = await fetch(`http://127.0.0.1:${writer.port}/metrics`)
        assert.equal(status, 500)
        assert.match(failures.join('\n'), /a collector fails/)
        assert.equal(await publish(writer, 'a'), 200)
      },
    ))

  test('names the main thread when it never answers, and still publishes', () =>
    withWriter(
      () => new Promise(() => undefined),
      async (writer) => {
        const began = performance.now()
        const response = await fetch(`http://127.0.0.1:${writer.port}/readyz`)
        assert.ok(performance.now() - began >= READY_MS_MAX - 1)
        assert.equal(response.status, 503)
        const { unanswered } = (await response.json()) as { unanswered: string[] }
        assert.deepEqual(unanswered, ['main thread'])
        const ready = await fetch(`http://127.0.0.1:${writer.port}/readyz?for=publish`)
        assert.equal(ready.status, 200)
        assert.equal(await publish(writer, 'a'), 200)
      },
    ))

  test('refuses publishes when the service is stopping, and still answers operations', () =>
    withWriter(
      async () => ALIVE,
      async (writer) => {
        assert.equal(await publish(writer, 'a'), 200)
        writer.stop()
        assert.equal(await publish(writer, 'b'), 503)
        const ready = await fetch(`http://127.0.0.1:${writer.port}/readyz?for=publish`)
        assert.equal(ready.status, 503)
        assert.equal((await fetch(`http://127.0.0.1:${writer.port}/livez`)).status, 200)
      },
    ))

  const exchange = (path: string): void => {
    copyFileSync(path, `${path}.copy`)
    renameSync(`${path}.copy`, path)
  }
  const changes: readonly (readonly [what: string, name: string, change: (path: string) => void])[] = [
    ['the store is replaced', 'daybook.db', exchange],
    ['the store is overwritten in place by a smaller one', 'daybook.db', (path) => truncateSync(path, 4_096)],
    ['the store is removed', 'daybook.db', rmSync],
    ['its write-ahead log is removed', 'daybook.db-wal', rmSync],
    ['its shared index is removed', 'daybook.db-shm', rmSync],
    ['the high-water mark is replaced', 'high-water', exchange],
  ]
  for (const [what, name, change] of changes) {
    test(`acknowledges nothing from the moment on at which ${what}, and says so`, () =>
      withWriter(
        async () => ALIVE,
        async (writer, _, { folder, replaced }) => {
          assert.equal(await publish(writer, 'a'), 200)
          change(join(folder, name))
          const refused = await sendTrade(writer, 'b')
          const { code, detail } = (await refused.json()) as { code: string; detail: string }
          assert.deepEqual([refused.status, code], [503, 'store-unavailable'])
          assert.match(detail, /was replaced or removed while the service runs/)
          await until('the writer has said so', () => Promise.resolve(replaced.length > 0))
          assert.deepEqual(replaced, [join(folder, name)])
          const ready = await fetch(`http://127.0.0.1:${writer.port}/readyz?for=publish`)
          assert.deepEqual(await ready.json(), {
            ready: false,
            checks: { accepting_publishes: false, store_in_place: false },
          })
        },
      ))
  }

  test('finds a replaced store although nobody publishes, and takes nothing when it is back', () =>
    withWriter(
      async () => ALIVE,
      async (writer, _, { folder, replaced }) => {
        const path = join(folder, 'daybook.db')
        renameSync(path, `${path}.aside`)
        await until('the writer has looked', () => Promise.resolve(replaced.length > 0))
        renameSync(`${path}.aside`, path)
        assert.equal(await publish(writer, 'a'), 503)
      },
    ))
})
