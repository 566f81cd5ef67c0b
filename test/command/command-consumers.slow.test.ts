import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, startProxy } from '../stage/command-stage.ts'
import { type Service, startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-commands-'))
let service: Service
const bytesOf = async (path: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${service.url}/api/v1${path}`)).arrayBuffer())
const textOf = async (path: string): Promise<string> => (await bytesOf(path)).toString()

before(async () => {
  service = await startService({ drafts: SAMPLE })
})
after(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

suite('get', () => {
  test('prints the unchanged answer, with the parameters of the API as options', async () => {
    const { code, stdout } = await run(['get', 'summary', service.url, '--at', '2026-08-01'])
    assert.equal(code, 0)
    assert.equal(stdout, `${await textOf('/summary?at=2026-08-01')}\n`)
    const flows = await run([
      'get',
      'flows',
      service.url,
      '--from',
      '2026-08',
      '--to',
      '2026-08-03',
      '--bucket',
      'hour',
    ])
    assert.equal(flows.stdout, `${await textOf('/flows?from=2026-08-01&to=2026-08-03&bucket=hour')}\n`)
  })

  test('takes the variable of the path as an argument, and prints the option of the next page', async () => {
    const ledger = await run(['get', 'ledger', service.url, '3'])
    assert.equal(ledger.stdout, (await run(['get', 'contest-ledger', service.url, '3'])).stdout)
    assert.equal(ledger.stdout, `${await textOf('/contests/3/ledger')}\n`)
    const page = await run(['get', 'payouts', service.url, '--limit', '1'])
    assert.match(page.stderr, /^there is more: --after \d+$/m)
  })

  test('prints a table with --format table, with amounts below their names', async () => {
    const { stdout } = await run(['get', 'contest', service.url, '3', '--format', 'table'])
    const { spentOnPlay } = JSON.parse(await textOf('/contests/3'))
    assert.equal(/^spentOnPlay +([\d .]+)$/m.exec(stdout)?.[1]?.replaceAll(' ', ''), spentOnPlay)
    assert.doesNotMatch(stdout, /AtMs/)
  })

  test('prints a list as CSV with --format csv, and the option of the next page', async () => {
    const { code, stdout, stderr } = await run([
      'get',
      'payouts',
      service.url,
      '--limit',
      '1',
      '--format',
      'csv',
    ])
    assert.equal(code, 0)
    assert.equal(stdout, await textOf('/payouts?limit=1&format=csv'))
    assert.match(stderr, /^there is more: --after \d+$/m)
    const summary = await run(['get', 'summary', service.url, '--format', 'csv'])
    assert.equal(summary.code, 2)
  })

  test('prints the whole CSV of events without --limit, filtered and with details', async () => {
    for (const [options, query] of [
      [[], ''],
      [['--type', 'price,contest', '--details'], '&type=price,contest&details=1'],
    ] as const) {
      const printed = await run(['get', 'events', service.url, '--format', 'csv', ...options])
      assert.equal(printed.code, 0, printed.stderr)
      assert.equal(printed.stdout, await textOf(`/events?format=csv${query}`))
      assert.equal(printed.stderr, '')
    }
    const page = await run(['get', 'events', service.url, '--format', 'csv', '--limit', '2'])
    assert.equal(page.stdout, await textOf('/events?format=csv&limit=2'))
    assert.match(page.stderr, /^there is more: --after 2$/m)
    const refused = await run(['get', 'events', service.url, '--format', 'csv', '--before', '2'])
    assert.equal(refused.code, 2)
  })

  test('ends with 1 when the CSV of events breaks off', async () => {
    let printed = 0
    const stdout = new PassThrough().on('data', (bytes: Buffer) => (printed += bytes.byteLength))
    const cut = { cutAfter: 20_000, once: () => printed > 0 }
    await using proxy = await startProxy(service.url, (path) => (path.includes('csv') ? cut : 'none'))
    const { code, stderr } = await run(['get', 'events', proxy.url, '--format', 'csv'], { stdout })
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: the CSV is incomplete, because the connection broke off/m)
  })

  test('ends with 2 for bad usage and with 1 for something that does not exist', async () => {
    const far = await run([
      'get',
      'flows',
      service.url,
      '--bucket',
      'minute',
      '--from',
      '2026-01',
      '--to',
      '2026-03',
    ])
    assert.equal(far.code, 2)
    const unknown = await run(['get', 'event', service.url, '999999'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /^daybook: The newest event is \d+\.$/m)
    const bucket = await run(['get', 'flows', service.url, '--bucket', 'fortnight'])
    assert.equal(bucket.code, 2)
    assert.match(bucket.stderr, /Allowed choices are minute, hour, day, week/)
  })
})

suite('export', () => {
  test('prints a range in the CSV of the API', async () => {
    const { code, stdout, stderr } = await run(['export', service.url, '--format', 'csv', '--to', '2026-09'])
    assert.equal(code, 0)
    assert.equal(stdout, await textOf('/events?format=csv&limit=10000&to=2026-09-01'))
    assert.match(stderr, /2187 events of seq 1 to 2187/)
  })

  test('prints the lines between two moments that match a filter', async () => {
    const range = ['--from', '2026-08-03', '--to', '2026-08-04T12:00Z']
    const { stdout } = await run(['export', service.url, ...range, '--type', 'payout,burn', '--after', '700'])
    const query = 'from=2026-08-03&to=2026-08-04T12:00Z&type=payout,burn&after=700&limit=10000'
    const { events } = JSON.parse(await textOf(`/events?${query}`))
    assert.equal(stdout, events.map((event: object) => `${JSON.stringify(event)}\n`).join(''))
    assert.ok(events.length > 0)
  })

  test('accepts a range without events, and refuses one that is invalid', async () => {
    const none = await run(['export', service.url, '--from', '2020-01', '--to', '2020-02', '--format', 'csv'])
    assert.equal(none.code, 0)
    assert.equal(none.stdout, 'seq,type,kind,at,atMs,contestId,kots,tx\r\n')
    assert.equal(none.stderr, 'the range has no events\n')
    const backwards = await run(['export', service.url, '--from', '2026-08', '--to', '2026-07'])
    assert.equal(backwards.code, 2)
  })
})

suite('pull', () => {
  const to = join(folder, 'copy')
  const july = join(to, 'archive', '2026-07.jsonl.gz')

  test('writes months that sha256sum and verify accept', async () => {
    const { code, stderr } = await run(['pull', service.url, '--to', to])
    assert.equal(code, 0, stderr)
    for (const path of ['archive/2026-07.jsonl.gz', 'archive/2026-07.json', 'log/keys']) {
      assert.deepEqual(readFileSync(join(to, path)), await bytesOf(`/${path}`), path)
    }
    const checked = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], {
      cwd: join(to, 'archive'),
      encoding: 'utf8',
    })
    const closed = readdirSync(join(to, 'archive')).filter((name) => name.endsWith('.json'))
    assert.equal(checked.match(/: OK$/gm)?.length, 2 * closed.length)
    const verified = await run(['verify', to])
    assert.equal(verified.code, 0, verified.stdout)
  })

  test('downloads no file again that is already right', async () => {
    await using proxy = await startProxy(service.url, () => 'none')
    const { stderr } = await run(['pull', proxy.url, '2026-07', '--to', to])
    assert.match(stderr, /^0 files downloaded \(0 bytes\), 2 already complete$/m)
    assert.deepEqual(
      proxy.asked.map(([path]) => path).filter((path) => path.endsWith('.gz')),
      [],
    )
  })

  test('resumes after the last byte, in the same run and in the next one', async () => {
    const whole = readFileSync(july)
    rmSync(july)
    const came = (): number => statSync(`${july}.part`, { throwIfNoEntry: false })?.size ?? 0
    const stop = new AbortController()
    await using proxy = await startProxy(service.url, (path, count) => {
      if (!path.endsWith('07.jsonl.gz') || count > 2) return 'none'
      return count === 1
        ? { cutAfter: 1_000, once: () => stop.signal.aborted }
        : { cutAfter: 500, once: () => came() === 1_500 }
    })
    const first = run(['pull', proxy.url, '2026-07', '--to', to], { stop: stop.signal })
    while (came() < 1_000) await sleep(10)
    stop.abort()
    const stopped = await first
    assert.equal(stopped.code, 1)
    assert.match(stopped.stderr, /^daybook: stopped; repeat the command to continue$/m)

    const { code, stderr } = await run(['pull', proxy.url, '2026-07', '--to', to], { random: () => 0 })
    assert.equal(code, 0, stderr)
    assert.deepEqual(readFileSync(july), whole)
    const ranges = proxy.asked.flatMap(([path, { range }]) => (path.endsWith('07.jsonl.gz') ? [range] : []))
    assert.deepEqual(ranges, [undefined, 'bytes=1000-', 'bytes=1500-'])
    assert.ok(!existsSync(`${july}.part`))
  })

  test('downloads a file again when it differs from its manifest', async () => {
    const whole = readFileSync(july)
    writeFileSync(july, whole.subarray(1))
    writeFileSync(`${july}.part`, Buffer.alloc(whole.length))
    writeFileSync(`${july}.part.etag`, '"another"')
    const { code } = await run(['pull', service.url, '2026-07', '--to', to])
    assert.equal(code, 0)
    assert.deepEqual(readFileSync(july), whole)
  })

  test('names the months of the archive when none is in the range', async () => {
    const { code, stderr } = await run(['pull', service.url, '2020-01..2020-03', '--to', to])
    assert.equal(code, 2)
    assert.match(stderr, /the archive has no such month; it has 2026-07 to 2026-\d\d/)
    for (const words of ['2026-13', '2026-09..2026-01', '..', '2026-01..2026-02..2026-03']) {
      assert.equal((await run(['pull', service.url, words, '--to', to])).code, 2, words)
    }
  })
})

suite('an address', () => {
  test('that is malformed is refused in one line', async () => {
    for (const [url, code, words] of [
      ['data.example.org', 2, /give the address of the service/],
      ['http://127.0.0.1:1/api', 2, /without a path/],
    ] as const) {
      const ended = await run(['get', 'status', url])
      assert.equal(ended.code, code)
      assert.match(ended.stderr, words)
    }
  })

  test('at which nothing answers is named at once, and retried before the command fails', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const url = `http://127.0.0.1:${(free.address() as AddressInfo).port}`
    await new Promise((resolve) => free.close(resolve))
    const { code, stderr } = await run(['get', 'status', url], { random: () => 0 })
    assert.equal(code, 1)
    const [notice, failed] = stderr.trim().split('\n')
    assert.equal(notice, `no answer from ${new URL(url).host} yet`)
    assert.match(failed ?? '', /^daybook: the connection .*ECONNREFUSED/)
  })
})
