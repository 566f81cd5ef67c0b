import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as turn } from 'node:timers/promises'
import { run, startProxy } from '../../../test/stage/command-stage.ts'
import {
  commanded,
  makeLog,
  openFolder,
  publishUpTo,
  refusalAtStart,
  SIGNING,
} from '../../../test/story/damaged-log.ts'
import { startNode } from '../../../test/stage/node-process.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import type { Daybook } from '../../client/daybook.ts'
import { readStoreIdentity, storePath } from '../../log/store/store.ts'
import { backUp } from '../operator/backup-command.ts'
import { strayCursor } from './stray-cursor.ts'

const URL_GIVEN = 'https://data.example.org'
const PRESENT = 'c'.repeat(32)
const FORMER = 'a'.repeat(32)
const LATER = 'b'.repeat(32)

/** A service with a log of so many events that goes on from others. */
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
      'of a log that lost what was read',
      LATER,
      70,
      having(60, two),
      1,
      /^the service lost events .* accepted .* first 50 of them as another log, whose head is 60\. What was read of seq 51 to 70 is gone, .*go on with: tail --after 50$/,
    ],
    [
      'of a log that lost nothing that was read',
      LATER,
      40,
      having(60, two),
      1,
      /What was read up to seq 40 is in it.* go on with: tail --after 40$/,
    ],
    [
      'of a log before that, less by both losses',
      FORMER,
      90,
      having(60, two),
      1,
      /first 50 of them.* seq 51 to 90 is gone/,
    ],
    [
      'of a log that is not named',
      'd'.repeat(32),
      7,
      having(60, two),
      1,
      /of another log .* says nothing of that one.*: tail --after 0$/,
    ],
    [
      'of the same log, which became shorter',
      PRESENT,
      70,
      having(60, []),
      1,
      /ahead of the head of this log, 60, though it was read from it: .*nobody says so.*--save DIR/,
    ],
    [
      'of a log that nobody knows, after a loss',
      null,
      70,
      having(60, two),
      2,
      /^if seq 70 is from before: the service lost events .* first 50 .* seq 51 to 70 is gone/,
    ],
    [
      'of a log that nobody knows, and no loss',
      null,
      70,
      having(60, []),
      2,
      /^seq 70 is ahead of the head of this log, 60: it comes from another log, or/,
    ],
  ]
  for (const [what, log, seq, service, code, said] of table) {
    test(`says what it means and what to do: one ${what}`, async () => {
      const cursor = { log, seq, url: URL_GIVEN, resume: (at: number) => `tail --after ${at}` }
      const error = await strayCursor(cursor, service, { stop: new AbortController().signal })
      assert.equal(error.exitCode, code)
      assert.match(error.message, said)
      assert.doesNotMatch(error.message, /\n/)
      if (log !== null) assert.match(error.message, /daybook verify https:\/\/data\.example\.org/)
    })
  }
})

suite('tail, after its service lost events and that was accepted,', () => {
  test('says so, while it runs and when it begins again, and goes on as it says', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 10])
    const copy = join(folder.path, 'copy.db')
    const { code, said } = await commanded((world) => backUp(data, copy, world))
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
        /^daybook: the service lost events .* goes on from the first 10 of them as another log, whose head is 25\. What was read of seq 11 to 20 is gone/m
      const ended = await running
      assert.equal(ended.code, 1, ended.stderr)
      assert.match(ended.stderr, lost)
      assert.match(ended.stderr, /complete up to seq 20/)

      const again = await run(words)
      assert.equal(again.code, 1, again.stderr)
      assert.match(again.stderr, lost)
      assert.equal(seqKept(), 20, 'the cursor is kept')
      const beyond = await run(['tail', proxy.url, '--after', '30'])
      assert.equal(beyond.code, 2)
      assert.match(beyond.stderr, /^daybook: if seq 30 is from before: the service lost events/)

      const next = /go on with: daybook (.*), once that file is moved away$/m.exec(again.stderr)?.[1]
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

  test('refuses a cursor of the same log that became shorter, and keeps it', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3, 10])
    const cursor = join(folder.path, 'cursor')
    const kept = `${JSON.stringify({ log: readStoreIdentity(folder.data).id, seq: 12 })}\n`
    writeFileSync(cursor, kept)
    const node = await startNode(folder.data)
    try {
      const { code, stderr } = await run(['tail', node.url, '--cursor', cursor])
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^daybook: seq 12 is ahead of the head of this log, 10, though it was read from it/,
      )
      assert.equal(readFileSync(cursor, 'utf8'), kept)
    } finally {
      await node.end('SIGTERM')
    }
  })
})
