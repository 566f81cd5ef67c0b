import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { msOf } from '../../src/protocol/moment.ts'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import type { EventWire } from '../../src/protocol/event.ts'
import type { EventDetails, EventsPage } from '../../src/protocol/endpoints/event-endpoints.ts'
import { publishDeposit, run, startProxy } from '../stage/command-stage.ts'
import { type Service, startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-operators-'))
const tokenFile = join(folder, 'token')
let service: Service

before(async () => {
  service = await startService({ drafts: SAMPLE })
  writeFileSync(tokenFile, service.token)
})
after(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(`${service.url}/api/v1${path}`)).json()) as T
}

suite('correct', () => {
  const words = (seq: number, ...rest: readonly string[]): readonly string[] => [
    'correct',
    String(seq),
    '--url',
    service.url,
    '--to',
    service.publishUrl,
    ...rest,
  ]
  const sent = (seq: number, ...rest: readonly string[]): readonly string[] =>
    words(seq, '--token-file', tokenFile, ...rest)
  const firstOf = async (type: string): Promise<EventWire> => {
    const { events } = await get<EventsPage>(`/events?type=${type}&limit=1`)
    assert.ok(events[0] !== undefined)
    return events[0]
  }

  test('cancels an event in full, and changes nothing when repeated', async () => {
    const seq = await publishDeposit(service, 'to-correct')
    const { code, stdout } = await run(sent(seq, '--reason', 'Entered twice'))
    assert.equal(code, 0)
    assert.equal(stdout, `seq ${seq + 1} corrects seq ${seq}\n`)
    const event = await get<EventWire>(`/events/${seq + 1}`)
    assert.deepEqual([event.type, event.kind, event.kots], ['correction', 'treasury', '-1.000000000'])
    assert.deepEqual(await get(`/events/${seq + 1}/details`), {
      seq: seq + 1,
      details: { corrects: seq, reason: 'Entered twice' },
    })
    const again = await run(sent(seq, '--reason', 'Entered twice'))
    assert.equal(again.stdout, `seq ${seq + 1} (duplicate) corrects seq ${seq}\n`)
  })

  test('names the events that have cancelled and replaced an event, and the one to correct', async () => {
    const seq = await publishDeposit(service, 'to-correct-twice')
    assert.equal((await run(sent(seq, '--reason', 'Typed wrong'))).code, 0)
    const unreplaced = await run(sent(seq, '--restate', '{"kots":"2"}'))
    const cancelled = `daybook: event ${seq} was cancelled by ${seq + 1} and`
    const todo = `publish its replacement with details.restates ${seq}`
    assert.equal(unreplaced.stderr, `${cancelled} not replaced: ${todo}; nothing was published\n`)
    assert.equal((await run(sent(seq, '--reason', 'Typed wrong', '--restate', '{"kots":"2"}'))).code, 0)
    for (const again of [
      ['--reason', 'Typed wrong', '--restate', '{"kots":"3"}'],
      ['--ref', 'another', '--restate', '{"kots":"3"}'],
    ]) {
      const { code, stderr } = await run(sent(seq, ...again))
      assert.equal(code, 1)
      assert.equal(stderr, `${cancelled} replaced by ${seq + 2}: correct ${seq + 2}; nothing was published\n`)
    }
  })

  test('publishes the replacement in the same request, with the other fields unchanged', async () => {
    const prize = await firstOf('play')
    const { code, stdout } = await run(sent(prize.seq, '--restate', '{"kots":"0.5","details":{"count":3}}'))
    assert.equal(code, 0)
    const restated = Number(/^seq (\d+) restates seq \d+$/m.exec(stdout)?.[1])
    const event = await get<EventWire>(`/events/${restated}`)
    const { type, kind, contestId, tx } = prize
    assert.deepEqual({ ...event }, { ...event, type, kind, contestId, tx, kots: '0.500000000' })
    const { details } = await get<{ details: object }>(`/events/${restated}/details`)
    assert.deepEqual(details, { ...details, count: 3, restates: prize.seq })
  })

  test('writes the moments of a replacement in the form of a draft', async () => {
    const { events } = await get<EventsPage>('/events?type=prize&limit=1000')
    const drafts = await run(words(events.at(-1)?.seq ?? 0, '--dry-run', '--restate', '{}'))
    assert.equal(drafts.code, 0)
    const [, restatement = ''] = drafts.stdout.trim().split('\n')
    assert.doesNotMatch(restatement, /Ms"/)
    assert.deepEqual(JSON.parse(restatement).details.restates, events.at(-1)?.seq)
  })

  test('keeps the review that a later event set for the prize, unless the replacement has its own', async () => {
    const { seq, kind, contestId } = await firstOf('hold')
    const { details: held } = await get<EventDetails>(`/events/${seq}/details`)
    const of = `type=prize&kind=${kind}&contestId=${contestId}`
    const { events } = await get<EventsPage>(`/events?${of}&before=${seq}&order=desc&limit=1`)
    const restate = (fields: string): ReturnType<typeof run> =>
      run(words(events[0]?.seq ?? 0, '--dry-run', '--restate', fields))
    const kept = await restate('{"kots":"8"}')
    const until = JSON.parse(kept.stdout.trim().split('\n')[1] ?? '').details.reviewUntil
    assert.equal(until, held?.['reviewUntil'])
    assert.equal(kept.stderr, `the restatement ends its review at ${until}, as event ${seq} says\n`)
    const own = await restate('{"details":{"reviewUntil":"2026-07-30T00:00:00.000Z"}}')
    assert.match(own.stdout, /"reviewUntil":"2026-07-30T00:00:00.000Z"/)
    assert.equal(own.stderr, '')
  })

  test('publishes nothing when the publish API refuses a draft, and gives the reason', async () => {
    const seq = await publishDeposit(service, 'to-correct-badly')
    const { code, stderr, stdout } = await run(sent(seq, '--restate', '{"kots":"1.0000000001"}'))
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.equal(stderr, 'the restatement, kots: has more than nine decimals\nnothing was published\n')
  })

  test('refuses events that cannot be corrected and replacements that are invalid', async () => {
    const contest = await firstOf('contest')
    const refused = await run(sent(contest.seq))
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /of type contest, which cannot be corrected/)
    for (const restate of ['[]', '{', '{"seq":1}', join(folder, 'nothing')]) {
      assert.equal((await run(sent(1, '--restate', restate))).code, 2, restate)
    }
    assert.equal((await run(words(1))).code, 2)
    assert.equal((await run(sent(99_999_999))).code, 1)
  })

  test('does not say that nothing was published when each request stops on its way', async () => {
    const seq = await publishDeposit(service, 'to-correct-slowly')
    const answer =
      'HTTP/1.1 408 Request Timeout\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
    await using silent = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(answer))
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const to = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const { code, stderr } = await run(sent(seq, '--to', to))
    assert.equal(code, 1)
    assert.match(
      stderr,
      /did not get the whole request in time\nrepeat the command: nothing is published twice$/m,
    )
  })
})

suite('correct and publish', () => {
  let other: Service
  before(async () => (other = await startService({ drafts: SAMPLE })))
  after(() => other[Symbol.asyncDispose]())
  const token = ['--token-file', tokenFile] as const
  const REFUSAL =
    /^127\.0\.0\.1:\d+ belongs to another log \([0-9a-f]{32}\) than the service \([0-9a-f]{32}\): check --url and --to$/m
  const heads = (): Promise<number[]> =>
    Promise.all(
      [service, other].map(async ({ url }) => {
        const { head } = (await (await fetch(`${url}/api/v1/status`)).json()) as { head: { seq: number } }
        return head.seq
      }),
    )

  test('refuse a publish API that belongs to another log than the service, and publish nothing', async () => {
    const seq = await publishDeposit(service, 'in-one-log')
    const headsBefore = await heads()
    const corrected = await run([
      'correct',
      `${seq}`,
      '--url',
      service.url,
      '--to',
      other.publishUrl,
      ...token,
    ])
    assert.equal(corrected.code, 1)
    assert.match(corrected.stderr, REFUSAL)
    assert.match(corrected.stderr, /^nothing was published$/m)
    const file = join(folder, 'drafts.jsonl')
    writeFileSync(file, '{"ref":"elsewhere","type":"treasury","kind":"deposit","kots":"1"}\n')
    const sent = (url: string): ReturnType<typeof run> =>
      run(['publish', file, '--url', url, '--to', other.publishUrl, ...token])
    const refused = await sent(service.url)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /belongs to another log/)
    assert.deepEqual(await heads(), headsBefore)
    const { code, stdout } = await sent(other.url)
    assert.deepEqual([code, stdout], [0, '1 published, 0 duplicates skipped, 0 held\n'])
  })
})

suite('publish', () => {
  test('refuses --once without --from', async () => {
    const { code, stderr } = await run(['publish', '-', '--once', '--token-file', tokenFile])
    assert.equal(code, 2)
    assert.match(stderr, /--once needs --from/)
  })

  test('refuses a line that is not UTF-8, without repeating it', async () => {
    const file = join(folder, 'latin1.jsonl')
    const draft = (ref: string): string => `{"ref":"${ref}","type":"treasury","kind":"deposit","kots":"1"}\n`
    writeFileSync(file, Buffer.from(`${draft('utf-8')}\n${draft('Pok\u00E9mon')}`, 'latin1'))
    const words = ['publish', file, '--to', service.publishUrl, '--token-file', tokenFile]
    const { code, stdout, stderr } = await run(words)
    assert.deepEqual([code, stdout, stderr], [1, '', 'daybook: line 3 is not UTF-8\n'])
  })

  test('keeps a line separator within a draft, which JSON allows', async () => {
    const file = join(folder, 'separator.jsonl')
    writeFileSync(file, '{"ref":"sep-1","type":"treasury","kind":"deposit","kots":"1","x\u2028y":1}\r\n')
    const words = ['publish', file, '--to', service.publishUrl, '--token-file', tokenFile]
    const { code, stderr } = await run(words)
    assert.equal(code, 1)
    assert.match(stderr, /line 1, draft: has an unknown key/)
  })

  test('reports an input that cannot be read', async () => {
    const words = ['publish', '/proc/self/mem', '--to', service.publishUrl, '--token-file', tokenFile]
    const { code, stderr } = await run(words)
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: \/proc\/self\/mem cannot be read: /)
  })
})

suite('doctor', () => {
  const lines = (stdout: string, is: string): readonly string[] =>
    stdout.split('\n').filter((line) => line.startsWith(is))

  test('finds nothing wrong with a service and its directory', async () => {
    await run(['backup', '--data', service.data, '--to', join(folder, 'copy.db')])
    const { code, stdout } = await run(['doctor', '--data', service.data, '--url', service.url], {
      openFilesMax: () => 20_000,
    })
    assert.equal(code, 0, stdout)
    assert.deepEqual(lines(stdout, 'warn'), [])
    const looked = lines(stdout, 'ok').map((line) => line.slice(7).split(/ {2,}/)[0])
    const directory = ['high-water', 'clock', 'held', 'key', 'disk', 'backup', 'modes', 'open files']
    const url = ['clock', 'headers', 'checkpoint', 'cache', 'stream', 'live', 'ranges', 'private', 'held']
    assert.deepEqual(looked, [...directory, ...url])
  })

  test('reports a key that others may read, files that others may write, and a low limit of open files', async () => {
    const key = `${service.data}.key`
    const mark = join(service.data, HIGH_WATER_FILE)
    chmodSync(key, 0o644)
    chmodSync(mark, 0o666)
    const { code, stdout } = await run(['doctor', '--data', service.data], { openFilesMax: () => 1_024 })
    chmodSync(key, 0o600)
    chmodSync(mark, 0o600)
    assert.equal(code, 1)
    assert.match(stdout, /^wrong {2}key +\S+ may be read by other users: make it private with chmod 600/m)
    assert.match(stdout, /^wrong {2}modes +\S+high-water: other users may change the mark/m)
    assert.match(stdout, /^warn {3}open files +the limit is 1024; 10000 streams need 12256/m)
  })

  test('reports a clock that is behind the log or the service', async () => {
    await run(['backup', '--data', service.data, '--to', join(folder, 'copy.db')])
    const { code, stdout } = await run(['doctor', '--data', service.data, '--url', service.url], {
      now: () => msOf(Date.UTC(2020, 0, 1)),
    })
    assert.equal(code, 1)
    assert.equal(lines(stdout, 'wrong').filter((line) => / clock /.test(line)).length, 2)
  })

  test('reports a proxy that buffers the stream, and one that exposes the private listener', async () => {
    await using buffering = await startProxy(service.url, (path) =>
      /\/(?:stream|live)$/.test(path) ? 'hold' : 'none',
    )
    const leaking = (path: string): string => (path === '/metrics' ? service.publishUrl : service.url)
    await using exposing = await startProxy(leaking, () => 'none')
    const [held, exposed] = await Promise.all([
      run(['doctor', '--url', buffering.url, '--wait', '1']),
      run(['doctor', '--url', exposing.url]),
    ])
    assert.equal(held.code, 1)
    assert.deepEqual(lines(held.stdout, 'wrong'), [
      'wrong  stream      no bytes arrived in 1 s: a proxy buffers /api/v1/stream; turn that off',
      'wrong  live        no bytes arrived in 1 s: a proxy buffers /live; turn that off',
    ])
    assert.equal(exposed.code, 1)
    assert.match(exposed.stdout, /^wrong {2}private +\/metrics can be reached from here/m)
  })

  test('reports a service that does not answer', async () => {
    const { code, stdout } = await run(['doctor', '--url', 'http://127.0.0.1:1'])
    assert.equal(code, 1)
    assert.match(stdout, /^wrong {2}service {2}the service does not answer/)
  })

  test('refuses to run without a target', async () => {
    assert.equal((await run(['doctor'])).code, 2)
    assert.equal((await run(['doctor', '--data', join(folder, 'nothing')])).code, 2)
  })
})
