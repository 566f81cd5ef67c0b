import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as turn } from 'node:timers/promises'
import { run, startProxy } from '../../../test/stage/command-stage.ts'
import { startNode } from '../../../test/stage/node-process.ts'
import {
  runBackup,
  makeLog,
  openFolder,
  publishUpTo,
  refusalAtStart,
  SIGNING,
} from '../../../test/story/damaged-log.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import type { Daybook } from '../../client/daybook.ts'
import { readStoreIdentity, storePath } from '../../log/store/store.ts'
import { unknownCursorError } from './unknown-cursor.ts'

const URL_GIVEN = 'https://data.example.org'
const PRESENT = 'c'.repeat(32)
const FORMER = 'a'.repeat(32)
const LATER = 'b'.repeat(32)

/** Client of a service whose log has `seq` events and continues the given logs. */
function having(seq: number, formerLogs: readonly (readonly [id: string, size: number])[]): Daybook {
  return {
    logKeys: async () => ({
      logId: PRESENT,
      formerLogs: formerLogs.map(([id, size]) => ({ id, size, origin: id.slice(0, 4) })),
    }),
    status: async () => ({ head: { seq } }),
  } as unknown as Daybook
}

suite('a cursor that a log does not have', () => {
  const two = [
    [FORMER, 100],
    [LATER, 50],
  ] as const
  const table: readonly (readonly [
    what: string,
    log: string | null,
    seq: number,
    service: Daybook,
    code: 1 | 2,
    said: RegExp,
  ])[] = [
    [
      'of a former log, past the events that were kept',
      LATER,
      70,
      having(60, two),
      1,
      /^the service lost published events.* accepted .* a new log, whose head is 60, continues from the first 50 events\. The events of seq 51 to 70 that you read are gone, .*continue with: npx daybook tail --after 50$/,
    ],
    [
      'of a former log, within the events that were kept',
      LATER,
      40,
      having(60, two),
      1,
      /The events up to seq 40 are in the new log.* continue with: npx daybook tail --after 40$/,
    ],
    [
      'of a log before that, which both losses shortened',
      FORMER,
      90,
      having(60, two),
      1,
      /first 50 events.* seq 51 to 90 that you read are gone/,
    ],
    [
      'of a log that the service does not continue',
      'd'.repeat(32),
      7,
      having(60, two),
      1,
      /belongs to another log.* does not continue that log.*: npx daybook tail --after 0$/,
    ],
    [
      'of the same log, which is shorter now',
      PRESENT,
      70,
      having(60, []),
      1,
      /seq 70 was read from this log, but its head is now 60: .*operator has not said so.*--save DIR/,
    ],
    [
      'of an unknown log, after a loss',
      null,
      70,
      having(60, two),
      2,
      /^if seq 70 is from before a loss: the service lost published events.* first 50 .* seq 51 to 70 that you read are gone/,
    ],
    [
      'of an unknown log, without a loss',
      null,
      70,
      having(60, []),
      2,
      /^seq 70 is ahead of the head of this log, 60: it belongs to another log, or/,
    ],
  ]
  for (const [what, log, seq, service, code, said] of table) {
    test(`is explained with what to do: one ${what}`, async () => {
      const cursor = { log, seq, url: URL_GIVEN, resume: (at: number) => `tail --after ${at}` }
      const error = await unknownCursorError(cursor, service, {
        stop: new AbortController().signal,
        program: 'npx daybook',
      })
      assert.equal(error.exitCode, code)
      assert.match(error.message, said)
      assert.doesNotMatch(error.message, /\n/)
      if (log !== null) assert.match(error.message, /daybook verify https:\/\/data\.example\.org/)
    })
  }
})

suite('tail, after its service lost events and the operator accepted the loss,', () => {
  test('explains the loss while it runs and in the next run, and continues with the command that it prints', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 10])
    const copy = join(folder.path, 'copy.db')
    const { code, said } = await runBackup(data, copy)
    assert.equal(code, 0, said)
    publishUpTo(data, [12, 20])
    const cursor = join(folder.path, 'cursor')
    let node = await startNode(data)
    await using proxy = await startProxy(
      (path) => `${node.url}${path}`,
      () => 'none',
    )
    const words = ['tail', proxy.url, '--after', '8', '--cursor', cursor]
    const seqKept = (): unknown => (existsSync(cursor) ? JSON.parse(readFileSync(cursor, 'utf8')).seq : null)
    // Without chance no attempt waits longer than the service asks for.
    const running = run(words, { random: () => 0 })
    while (seqKept() !== 20) await turn(20)
    await node.end('SIGTERM')

    for (const suffix of ['-wal', '-shm']) rmSync(`${storePath(data)}${suffix}`, { force: true })
    copyFileSync(copy, storePath(data))
    assert.equal(refusalAtStart(data, { ...SIGNING, acceptLoss: true }), undefined)
    publishUpTo(data, [25], [TEST_KEY], 3)
    node = await startNode(data)
    try {
      const lost =
        /^daybook: the service lost published events.* a new log, whose head is 25, continues from the first 10 events\. The events of seq 11 to 20 that you read are gone/m
      const ended = await running
      assert.equal(ended.code, 1, ended.stderr)
      assert.match(ended.stderr, lost)
      assert.match(ended.stderr, /complete up to seq 20/)

      const again = await run(words)
      assert.equal(again.code, 1, again.stderr)
      assert.match(again.stderr, lost)
      assert.equal(seqKept(), 20, 'the cursor is unchanged')
      const beyond = await run(['tail', proxy.url, '--after', '30'])
      assert.equal(beyond.code, 2)
      assert.match(
        beyond.stderr,
        /^daybook: if seq 30 is from before a loss: the service lost published events/,
      )

      const next = /continue with: daybook (.*), once that file is moved away$/m.exec(again.stderr)?.[1]
      rmSync(cursor)
      const on = await run([...(next ?? '').split(' '), '--no-follow'])
      assert.equal(on.code, 0, on.stderr)
      assert.deepEqual(
        on.stdout.match(/(?<="seq":)\d+/g),
        Array.from({ length: 15 }, (_, index) => `${index + 11}`),
      )
      const kept = { log: readStoreIdentity(data).id, seq: 25 }
      assert.deepEqual(JSON.parse(readFileSync(cursor, 'utf8')), kept)
    } finally {
      await node.end('SIGTERM')
    }
  })

  test('refuses a cursor of the same log that is shorter now, and leaves the cursor unchanged', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3, 10])
    const cursor = join(folder.path, 'cursor')
    const kept = `${JSON.stringify({ log: readStoreIdentity(folder.data).id, seq: 12 })}\n`
    writeFileSync(cursor, kept)
    const node = await startNode(folder.data)
    try {
      const { code, stderr } = await run(['tail', node.url, '--cursor', cursor])
      assert.equal(code, 1)
      assert.match(stderr, /^daybook: seq 12 was read from this log, but its head is now 10/)
      assert.equal(readFileSync(cursor, 'utf8'), kept)
    } finally {
      await node.end('SIGTERM')
    }
  })
})
