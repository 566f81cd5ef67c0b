import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, beforeEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileIdentityOf, readPlace, savePlace } from '../../src/command/outbox/follow-cursor.ts'
import type { RunResult } from '../stage/command-stage.ts'
import { run } from '../stage/command-stage.ts'
import type { FollowStage } from './follow-stage.ts'
import { openFollowStage } from './follow-stage.ts'
import { until } from './outbox-stage.ts'

/** Time for an answer that is on its way. */
const ANSWER_MS = 500
const LONG_AGO = new Date('2026-01-01')
let folder = ''
let stage: FollowStage

before(async () => {
  stage = await openFollowStage()
})
after(() => stage?.[Symbol.asyncDispose]())

suite('a followed file', () => {
  const path = (name: string): string => join(folder, name)
  beforeEach(() => {
    folder = mkdtempSync(join(stage.folder, 'followed-'))
  })

  type Following = Readonly<{ said(): string; stop(): Promise<RunResult>; ended: Promise<RunResult> }>

  function follow(...more: readonly string[]): Following {
    const stop = new AbortController()
    const stderr = new PassThrough()
    let said = ''
    stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const words = [
      'publish',
      '--follow',
      path('drafts.jsonl'),
      '--to',
      stage.service.door,
      '--token-file',
      stage.tokenFile,
    ]
    const ended = run([...words, ...more], { stop: stop.signal, stderr })
    return {
      said: () => said,
      ended,
      async stop() {
        // The log has an event some milliseconds before the command has its answer. A stop gives up that answer.
        await sleep(ANSWER_MS)
        stop.abort()
        return ended
      },
    }
  }

  test('is awaited, and its finished lines are published as they come', async () => {
    const following = follow()
    await until(() => following.said().includes('does not exist yet'), 'it waits')
    const [first, second] = [stage.line(), stage.line()]
    writeFileSync(path('drafts.jsonl'), first + second.slice(0, 20))
    await until(
      async () => (await stage.amounts()).length === stage.lines() - 1,
      'the first line is published',
    )
    appendFileSync(path('drafts.jsonl'), second.slice(20))
    await stage.published()
    const { code, stdout } = await following.stop()
    assert.deepEqual([code, stdout], [0, '2 published, 0 duplicates skipped, 0 held\n'])
    assert.deepEqual(await stage.amounts(), [1, 2])
  })

  test('is read again from the last finished line, because a writer may cut a torn one', async () => {
    const [first, next] = [stage.line(), stage.line()]
    const torn = next.replace('follow-', 'broken-').slice(0, 20)
    writeFileSync(path('drafts.jsonl'), first + torn)
    const following = follow()
    await until(
      async () => (await stage.amounts()).length === stage.lines() - 1,
      'the first line is published',
    )
    truncateSync(path('drafts.jsonl'), first.length)
    appendFileSync(path('drafts.jsonl'), next)
    await stage.published()
    await following.stop()
    const again = await run([
      'publish',
      path('drafts.jsonl'),
      '--to',
      stage.service.door,
      '--token-file',
      stage.tokenFile,
    ])
    assert.equal(again.stdout, '0 published, 2 duplicates skipped, 0 held\n')
  })

  test('is followed by its name when it is renamed, after its own last line', async () => {
    writeFileSync(path('drafts.jsonl'), stage.line())
    const following = follow()
    await stage.published()
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.1'))
    appendFileSync(path('drafts.jsonl.1'), stage.line())
    writeFileSync(path('drafts.jsonl'), stage.line())
    await stage.published()
    truncateSync(path('drafts.jsonl'))
    await until(() => following.said().includes('was cut'), 'it notices the cut')
    appendFileSync(path('drafts.jsonl'), stage.line().trimEnd())
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.2'))
    writeFileSync(path('drafts.jsonl'), stage.line())
    await stage.published()
    assert.equal((await following.stop()).stdout, '5 published, 0 duplicates skipped, 0 held\n')
    assert.deepEqual(
      await stage.amounts(),
      [...(await stage.amounts())].toSorted((a, b) => a - b),
    )
  })

  test('is continued at the place of the cursor file, also after it was renamed', async () => {
    const cursor = ['--cursor', path('cursor')] as const
    writeFileSync(path('drafts.jsonl'), stage.line() + stage.line())
    const first = follow(...cursor)
    await stage.published()
    await first.stop()
    appendFileSync(path('drafts.jsonl'), stage.line())
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.1'))
    writeFileSync(path('drafts.jsonl'), stage.line())
    const second = follow(...cursor)
    await stage.published()
    assert.equal((await second.stop()).stdout, '2 published, 0 duplicates skipped, 0 held\n')
    const whole = follow()
    await until(() => whole.said() === '', 'it runs')
    appendFileSync(path('drafts.jsonl'), stage.line())
    await stage.published()
    assert.equal((await whole.stop()).stdout, '1 published, 1 duplicates skipped, 0 held\n')
  })

  test('is refused when its name went to two other files, because lines of the first are not read', async () => {
    const cursor = ['--cursor', path('drafts.jsonl.cursor')] as const
    writeFileSync(path('drafts.jsonl'), stage.line())
    const following = follow(...cursor)
    await stage.published()
    // Two files that are written within some milliseconds may have the same time.
    utimesSync(path('drafts.jsonl'), LONG_AGO, LONG_AGO)
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.2'))
    writeFileSync(path('drafts.jsonl.1'), stage.line())
    writeFileSync(path('drafts.jsonl'), stage.line())
    let isEnded = false
    void following.ended.then(() => (isEnded = true))
    await until(() => isEnded, 'it ends')
    const { code, stderr } = await following.ended
    assert.equal(code, 1)
    assert.match(stderr, /was replaced more than once, .* not published: \S*\/drafts\.jsonl\.1\. Publish/)
    assert.equal((await stage.amounts()).length, stage.lines() - 2)
    const words = [
      'publish',
      path('drafts.jsonl.1'),
      '--to',
      stage.service.door,
      '--token-file',
      stage.tokenFile,
    ]
    assert.equal((await run(words)).code, 0)
    rmSync(path('drafts.jsonl.cursor'))
    const again = follow(...cursor)
    await stage.published()
    assert.equal((await again.stop()).stdout, '1 published, 0 duplicates skipped, 0 held\n')
  })

  test('is refused when the file of the cursor is gone, because lines may be missing', async () => {
    const cursor = ['--cursor', path('cursor')] as const
    writeFileSync(path('drafts.jsonl'), stage.line())
    const first = follow(...cursor)
    await stage.published()
    await first.stop()
    const text = stage.line()
    rmSync(path('drafts.jsonl'))
    writeFileSync(path('drafts.jsonl'), text)
    const { code, stderr } = await follow(...cursor).ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      /drafts\.jsonl is another file than that of the cursor: publish the older file whole/,
    )
    writeFileSync(path('cursor'), '{}')
    assert.equal((await follow(...cursor).ended).code, 2)
    stage.forgetLine()
  })

  test('is continued in a new file that has no line yet, although the file before it is gone', async () => {
    const cursor = ['--cursor', path('cursor')] as const
    writeFileSync(path('drafts.jsonl'), stage.line())
    const first = follow(...cursor)
    await stage.published()
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.1'))
    writeFileSync(path('drafts.jsonl'), '')
    const { inode } = fileIdentityOf(statSync(path('drafts.jsonl'), { bigint: true }))
    await until(() => readPlace(path('cursor'))?.inode === inode, 'the cursor is in the new file')
    await first.stop()
    rmSync(path('drafts.jsonl.1'))
    appendFileSync(path('drafts.jsonl'), stage.line())
    const second = follow(...cursor)
    await stage.published()
    assert.equal((await second.stop()).stdout, '1 published, 0 duplicates skipped, 0 held\n')
  })

  test('is not sent to another log than the one that has the lines before the cursor', async () => {
    const cursor = ['--cursor', path('cursor')] as const
    writeFileSync(path('drafts.jsonl'), stage.line())
    const first = follow(...cursor)
    await stage.published()
    await first.stop()
    appendFileSync(path('drafts.jsonl'), stage.line())
    const saved = readPlace(path('cursor')) ?? assert.fail('the place is saved')
    savePlace(path('cursor'), { ...saved, log: 'former-log' })
    const refused = follow(...cursor)
    assert.equal((await refused.ended).code, 1)
    assert.ok(refused.said().includes(`are in another log than ${saved.log}, to which the door belongs`))
    const pinned = await follow(...cursor, '--url', stage.service.url).ended
    assert.equal(pinned.code, 1)
    assert.match(pinned.stderr, /are in another log than [0-9a-f]{32}, to which the door belongs/)
    rmSync(path('cursor'))
    const again = follow(...cursor)
    await stage.published()
    assert.equal((await again.stop()).stdout, '1 published, 1 duplicates skipped, 0 held\n')
  })

  test('stops at a refused line, and names it', async () => {
    writeFileSync(
      path('drafts.jsonl'),
      `${stage.line()}\n{"ref":"follow-bad","type":"treasury","kind":"deposit","kots":7}\n`,
    )
    const following = follow()
    const { code, stdout } = await following.ended
    assert.equal(code, 1)
    assert.match(following.said(), /drafts\.jsonl, line 3, kots: /)
    assert.equal(stdout, '1 published, 0 duplicates skipped, 0 held\n')
  })

  test('stops at a line that is not UTF-8, after the lines before it, and does not repeat it', async () => {
    const wrong = '{"ref":"follow-Pok\u00E9mon","type":"treasury","kind":"deposit","kots":"7"}\n'
    writeFileSync(path('drafts.jsonl'), Buffer.from(`${stage.line()}\n${wrong}`, 'latin1'))
    const following = follow('--cursor', path('cursor'))
    const { code, stderr } = await following.ended
    await stage.published()
    assert.deepEqual([code, stderr], [1, 'daybook: line 3 is not UTF-8\n'])
    writeFileSync(path('drafts.jsonl'), 'x'.repeat(70_000))
    rmSync(path('cursor'))
    assert.match((await follow().ended).stderr, /^daybook: line 1 is longer than 65536 bytes/)
  })
})
