import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { suite, test } from 'node:test'
import { openAppender } from '../log/append.ts'
import { createStore, openForWriting, storePath } from '../log/store/store.ts'
import { billionths } from '../protocol/amount.ts'
import { msOf } from '../protocol/moment.ts'
import { backUp } from './backups/backup-command.ts'
import { check } from './operator/check-command.ts'
import { openLines } from './log-lines/log-lines.ts'
import { runToEnd } from './operator/node-ending.ts'
import type { CommandContext } from './terminal/command-context.ts'
import { CommandError } from './terminal/command-error.ts'
import { MAIN } from '../../test/stage/places.ts'
import { testSigner } from '../../test/story/signing.ts'

const EVENTS = 40_000
/** Far longer than a command that prints its version takes, with what it leaves open. */
const PROCESS_MS_MAX = 60_000
const START_MS = Date.UTC(2026, 9, 1)

/** CommandContext with a stop signal that is already aborted. */
function stoppedContext(): CommandContext {
  return {
    now: () => msOf(START_MS),
    monotonicMs: () => 0,
    program: 'daybook',
    random: () => 0,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    interactive: false,
    sharesPorts: true,
    hasFileModes: true,
    isRoot: false,
    stop: AbortSignal.abort(),
  }
}

suite('a command that is stopped', () => {
  const data = mkdtempSync(join(tmpdir(), 'daybook-stopped-'))
  test.after(() => rmSync(data, { recursive: true }))

  test.before(() => {
    createStore(storePath(data), { origin: 'daybook.test/off', chain: 'opaque', simulated: false })
    const db = openForWriting(storePath(data))
    const appender = openAppender(db, testSigner(db))
    const fixed = { ref: null, atMs: null, type: 'trade', kind: 'buy', contestId: null, tx: null } as const
    appender.begin()
    for (let number = 1; number <= EVENTS; number++) {
      const draft = { ...fixed, kots: billionths(BigInt(number)), details: null }
      appender.append(draft, null, msOf(START_MS + number))
    }
    appender.write()
    appender.commit()
    db.close()
  })

  const stops = (error: unknown): boolean =>
    error instanceof CommandError && error.exitCode === 1 && error.message.startsWith('stopped')
  const leavesNothing = (): void =>
    assert.deepEqual(
      readdirSync(data).filter((name) => /checking|copy/.test(name)),
      [],
    )

  test('ends a check and leaves nothing behind', async () => {
    await assert.rejects(check({ data }, stoppedContext()), stops)
    leavesNothing()
  })

  test('ends a copy and leaves nothing behind', async () => {
    const settings = { data, to: join(data, 'copy.db'), keepDays: 30, isFull: false, keys: [] }
    await assert.rejects(backUp(settings, stoppedContext()), stops)
    leavesNothing()
  })
})

suite('a node that is stopped', () => {
  test('is cut when its end takes longer than the drain and the headroom', async () => {
    // An open connection keeps the process in the same way.
    const open = setInterval(() => undefined, 1_000)
    const said: string[] = []
    const lines = openLines(
      (name) => said.push(name),
      () => 0,
    )
    const node = {
      broken: new Promise<string>(() => {}),
      [Symbol.asyncDispose]: () => new Promise<void>(() => {}),
    }
    const settings = { context: stoppedContext(), lines, drainMs: 5, headroomMs: 5 }
    assert.equal(await runToEnd(node, settings), 1)
    assert.deepEqual(said, ['stopping', 'stop-cut'])
    clearInterval(open)
  })

  test('leaves nothing that keeps the process for long', async () => {
    const words = ['--import', 'data:text/javascript,setInterval(() => {}, 1000)', MAIN, '--version']
    const child = spawn(process.execPath, words, { stdio: 'ignore' })
    const late = setTimeout(() => child.kill('SIGKILL'), PROCESS_MS_MAX)
    await once(child, 'exit')
    clearTimeout(late)
    assert.equal(child.exitCode, 0)
  })
})
