import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, beforeEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { followInput } from '../../src/command/outbox/follow-drafts.ts'
import { openDoor } from '../../src/command/operator/publish-door.ts'
import type { RunResult } from '../stage/command-stage.ts'
import { run, worldOf } from '../stage/command-stage.ts'
import { until } from './outbox-stage.ts'
import type { Service } from '../stage/service.ts'
import { startService } from '../stage/service.ts'

const root = mkdtempSync(join(tmpdir(), 'daybook-follow-'))
const tokenFile = join(root, 'token')
/** Time for an answer that is on its way. */
const ANSWER_MS = 500
const LONG_AGO = new Date('2026-01-01')
let [folder, number] = ['', 0]
let service: Service

before(async () => {
  service = await startService({ chain: 'opaque', options: ['--rate-limit', 'off', '--drain', '0'] })
  writeFileSync(tokenFile, service.token)
})
after(async () => {
  await service?.[Symbol.asyncDispose]()
  rmSync(root, { recursive: true })
})

/** A line with a deposit of its own amount. */
function line(): string {
  number += 1
  return `{"ref":"follow-${number}","type":"treasury","kind":"deposit","kots":"${number}"}\n`
}

/** Amounts of all events. */
async function amounts(): Promise<readonly number[]> {
  const answer = await fetch(`${service.url}/api/v1/events?limit=10000`)
  const { events } = (await answer.json()) as { events: readonly { kots: string }[] }
  return events.map(({ kots }) => Number(kots))
}

const published = (): Promise<void> =>
  until(async () => (await amounts()).length === number, 'every line is published')

suite('a followed file', () => {
  const path = (name: string): string => join(folder, name)
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'followed-'))
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
      service.door,
      '--token-file',
      tokenFile,
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
    const [first, second] = [line(), line()]
    writeFileSync(path('drafts.jsonl'), first + second.slice(0, 20))
    await until(async () => (await amounts()).length === number - 1, 'the first line is published')
    appendFileSync(path('drafts.jsonl'), second.slice(20))
    await published()
    const { code, stdout } = await following.stop()
    assert.deepEqual([code, stdout], [0, '2 published, 0 duplicates skipped, 0 held\n'])
    assert.deepEqual(await amounts(), [1, 2])
  })

  test('is read again from the last finished line, because a writer may cut a torn one', async () => {
    const [first, next] = [line(), line()]
    const torn = next.replace('follow-', 'broken-').slice(0, 20)
    writeFileSync(path('drafts.jsonl'), first + torn)
    const following = follow()
    await until(async () => (await amounts()).length === number - 1, 'the first line is published')
    truncateSync(path('drafts.jsonl'), first.length)
    appendFileSync(path('drafts.jsonl'), next)
    await published()
    await following.stop()
    const again = await run([
      'publish',
      path('drafts.jsonl'),
      '--to',
      service.door,
      '--token-file',
      tokenFile,
    ])
    assert.equal(again.stdout, '0 published, 2 duplicates skipped, 0 held\n')
  })

  test('is followed by its name when it is renamed, after its own last line', async () => {
    writeFileSync(path('drafts.jsonl'), line())
    const following = follow()
    await published()
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.1'))
    appendFileSync(path('drafts.jsonl.1'), line())
    writeFileSync(path('drafts.jsonl'), line())
    await published()
    truncateSync(path('drafts.jsonl'))
    await until(() => following.said().includes('was cut'), 'it notices the cut')
    appendFileSync(path('drafts.jsonl'), line().trimEnd())
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.2'))
    writeFileSync(path('drafts.jsonl'), line())
    await published()
    assert.equal((await following.stop()).stdout, '5 published, 0 duplicates skipped, 0 held\n')
    assert.deepEqual(
      await amounts(),
      [...(await amounts())].toSorted((a, b) => a - b),
    )
  })

  test('is continued at the place of the cursor file, also after it was renamed', async () => {
    const cursor = ['--cursor', path('cursor')] as const
    writeFileSync(path('drafts.jsonl'), line() + line())
    const first = follow(...cursor)
    await published()
    await first.stop()
    appendFileSync(path('drafts.jsonl'), line())
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.1'))
    writeFileSync(path('drafts.jsonl'), line())
    const second = follow(...cursor)
    await published()
    assert.equal((await second.stop()).stdout, '2 published, 0 duplicates skipped, 0 held\n')
    const whole = follow()
    await until(() => whole.said() === '', 'it runs')
    appendFileSync(path('drafts.jsonl'), line())
    await published()
    assert.equal((await whole.stop()).stdout, '1 published, 1 duplicates skipped, 0 held\n')
  })

  test('is refused when its name went to two other files, because lines of the first are not read', async () => {
    const cursor = ['--cursor', path('drafts.jsonl.cursor')] as const
    writeFileSync(path('drafts.jsonl'), line())
    const following = follow(...cursor)
    await published()
    // Two files that are written within some milliseconds may have the same time.
    utimesSync(path('drafts.jsonl'), LONG_AGO, LONG_AGO)
    renameSync(path('drafts.jsonl'), path('drafts.jsonl.2'))
    writeFileSync(path('drafts.jsonl.1'), line())
    writeFileSync(path('drafts.jsonl'), line())
    let isEnded = false
    void following.ended.then(() => (isEnded = true))
    await until(() => isEnded, 'it ends')
    const { code, stderr } = await following.ended
    assert.equal(code, 1)
    assert.match(stderr, /was replaced more than once, .* not published: \S*\/drafts\.jsonl\.1\. Publish/)
    assert.equal((await amounts()).length, number - 2)
    const words = ['publish', path('drafts.jsonl.1'), '--to', service.door, '--token-file', tokenFile]
    assert.equal((await run(words)).code, 0)
    rmSync(path('drafts.jsonl.cursor'))
    const again = follow(...cursor)
    await published()
    assert.equal((await again.stop()).stdout, '1 published, 0 duplicates skipped, 0 held\n')
  })

  test('is refused when the file of the cursor is gone, because lines may be missing', async () => {
    const cursor = ['--cursor', path('cursor')] as const
    writeFileSync(path('drafts.jsonl'), line())
    const first = follow(...cursor)
    await published()
    await first.stop()
    const text = line()
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
    number -= 1
  })

  test('stops at a refused line, and names it', async () => {
    writeFileSync(
      path('drafts.jsonl'),
      `${line()}\n{"ref":"follow-bad","type":"treasury","kind":"deposit","kots":7}\n`,
    )
    const following = follow()
    const { code, stdout } = await following.ended
    assert.equal(code, 1)
    assert.match(following.said(), /drafts\.jsonl, line 3, kots: /)
    assert.equal(stdout, '1 published, 0 duplicates skipped, 0 held\n')
  })

  test('stops at a line that is not UTF-8, after the lines before it, and does not repeat it', async () => {
    const wrong = '{"ref":"follow-Pok\u00E9mon","type":"treasury","kind":"deposit","kots":"7"}\n'
    writeFileSync(path('drafts.jsonl'), Buffer.from(`${line()}\n${wrong}`, 'latin1'))
    const following = follow('--cursor', path('cursor'))
    const { code, stderr } = await following.ended
    await published()
    assert.deepEqual([code, stderr], [1, 'daybook: line 3 is not UTF-8\n'])
    writeFileSync(path('drafts.jsonl'), 'x'.repeat(70_000))
    rmSync(path('cursor'))
    assert.match((await follow().ended).stderr, /^daybook: line 1 is longer than 65536 bytes/)
  })
})

suite('a followed input', () => {
  test('is published as its lines arrive, with a receipt for each on standard output', async () => {
    const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    let receipts = ''
    stdout.setEncoding('utf8').on('data', (text: string) => (receipts += text))
    const world = worldOf({ stdout, stderr })
    const ended = followInput(input, openDoor(service.door, tokenFile, world), world)
    const seq = (await amounts()).length
    input.write(line())
    await published()
    assert.equal(receipts, `{"ref":"follow-${number}","status":"published","seq":${seq + 1}}\n`)
    input.write(`${line()}\n${line()}`)
    input.end(line().trimEnd())
    assert.equal(await ended, 0)
    await published()
    assert.equal(receipts.trim().split('\n').length, 4)
    stderr.end()
    assert.equal(String(stderr.read()), '4 published, 0 duplicates skipped, 0 held\n')
  })

  test('ends with its error when it cannot be read, after the lines that came', async () => {
    const [input, stdout] = [new PassThrough(), new PassThrough()]
    const world = worldOf({ stdout })
    const ended = followInput(input, openDoor(service.door, tokenFile, world), world)
    input.write(line())
    await published()
    input.write(`${line()}${line().slice(0, 20)}`)
    number -= 1
    await sleep(0)
    input.destroy(Object.assign(new Error('read EIO'), { code: 'EIO', errno: -5, syscall: 'read' }))
    await assert.rejects(ended, { message: 'standard input cannot be read: i/o error', exitCode: 1 })
    await published()
  })

  test('stops at a line that is not UTF-8, after the lines before it', async () => {
    const [input, stdout] = [new PassThrough(), new PassThrough()]
    const world = worldOf({ stdout })
    const ended = followInput(input, openDoor(service.door, tokenFile, world), world)
    input.write(line() + line())
    input.write(Uint8Array.of(0x22, 0xe9, 0x22, 10))
    await assert.rejects(ended, { message: 'line 3 is not UTF-8', exitCode: 1 })
    await published()
  })

  test('has no place to keep', async () => {
    const words = [
      'publish',
      '--follow',
      '-',
      '--cursor',
      'x',
      '--to',
      service.door,
      '--token-file',
      tokenFile,
    ]
    assert.equal((await run(words)).code, 2)
  })
})
