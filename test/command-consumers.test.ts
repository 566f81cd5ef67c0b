import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { publishDeposit, run, start, startProxy } from './command-stage.ts'
import type { Service } from './service.ts'
import { startService } from './service.ts'

const SAMPLE = join(import.meta.dirname, 'sample', 'sample.drafts.jsonl')
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

suite('tail', () => {
  test('prints the archive’s lines, byte for byte, and how to resume', async () => {
    const { code, stdout, stderr } = await run(['tail', service.url, '--after', '0', '--no-follow'])
    const files = ['2026-07', '2026-08'].map((month) => bytesOf(`/archive/${month}.jsonl.gz`))
    assert.equal(code, 0)
    assert.equal(stdout, (await Promise.all(files)).map((file) => gunzipSync(file)).join(''))
    assert.match(stderr, /^2187 shown, 2187 read, complete up to seq 2187$/m)
    assert.match(stderr, /^resume: daybook tail http:\/\/127\.0\.0\.1:\d+ --no-follow --after 2187$/m)
  })

  test('begins with the last events that are wanted, in their order', async () => {
    const words = ['tail', service.url, '-n', '5', '--no-follow', '--type', 'payout', '--kind', 'winner']
    const { stdout, stderr } = await run(words)
    const page = JSON.parse(await textOf('/events?order=desc&limit=5&type=payout&kind=winner'))
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      page.events.toReversed(),
    )
    assert.match(stderr, /resume: .* --type payout --kind winner --no-follow --after 2187$/m)
  })

  test('begins at a moment, and ends after so many events', async () => {
    const words = [
      'tail',
      service.url,
      '--since',
      '2026-08-10',
      '--nonzero',
      '--count',
      '2',
      '--format',
      'csv',
    ]
    const { code, stdout, stderr } = await run(words)
    const csv = await textOf('/events?from=2026-08-10&nonzero=1&limit=2&format=csv')
    assert.equal(code, 0)
    assert.equal(stdout, csv)
    const last = csv.trim().split('\r\n').at(-1)?.split(',')[0]
    assert.match(stderr, new RegExp(`complete up to seq ${last}$`, 'm'))
    assert.match(stderr, new RegExp(`--format csv --after ${last}$`, 'm'))
  })

  test('follows, ends well when it is interrupted, and goes on from its cursor file without loss', async () => {
    const cursor = join(folder, 'cursor')
    const words = ['tail', service.url, '--cursor', cursor, '--type', 'treasury']
    const first = start(words)
    while (!existsSync(cursor)) await sleep(20)
    const one = await publishDeposit(service, 'tail-1')
    await first.says(new RegExp(`"seq":${one},`))
    first.child.kill('SIGINT')
    const ended = await first.ended()
    assert.equal(ended.code, 0, ended.stderr)
    assert.equal(ended.stdout, `${await textOf(`/events/${one}`)}\n`)
    assert.match(
      ended.stderr,
      new RegExp(`^resume: daybook tail \\S+ --type treasury --cursor ${cursor}$`, 'm'),
    )

    await publishDeposit(service, 'tail-2')
    const two = await publishDeposit(service, 'tail-3')
    const second = await run([...words, '--no-follow'])
    assert.equal(second.stdout, `${await textOf(`/events/${two - 1}`)}\n${await textOf(`/events/${two}`)}\n`)
    assert.equal(JSON.parse(readFileSync(cursor, 'utf8')).seq, two)
  })

  test('refuses a cursor of another log, and a file that is none', async () => {
    const file = join(folder, 'foreign')
    writeFileSync(file, '{"log":"another","seq":3}')
    const foreign = await run(['tail', service.url, '--cursor', file])
    assert.equal(foreign.code, 1)
    assert.match(foreign.stderr, /daybook: the cursor file is of another log/)
    writeFileSync(file, 'no cursor')
    assert.equal((await run(['tail', service.url, '--cursor', file])).code, 2)
  })

  test('ends quietly when nobody reads any more', async () => {
    const { child, ended } = start(['tail', service.url, '--after', '0'])
    child.stdout?.once('data', () => child.stdout?.destroy())
    const { code, stderr } = await ended()
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stderr, /EPIPE|    at /)
  })

  const script = '/usr/bin/script'
  test(
    'draws a table on a terminal, without colours where NO_COLOR is set',
    { skip: !existsSync(script) },
    () => {
      const main = join(import.meta.dirname, '..', 'src', 'main.ts')
      const command = `stty cols 100; ${process.execPath} ${main} tail ${service.url} --after 0 --count 3 2>/dev/null`
      const drawn = (env: NodeJS.ProcessEnv): string =>
        execFileSync(script, ['-qec', command, '/dev/null'], {
          encoding: 'utf8',
          env: { ...process.env, ...env },
        })
      const plain = drawn({ NO_COLOR: '1', TERM: 'xterm' }).replaceAll('\r', '')
      assert.equal(
        plain,
        [
          '2026-07-20 (UTC)',
          '       1  00:00:00  treasury deposit               2 400 000.000000000  67gf92WK…9fVC5bJ1',
          '       2  00:00:00  price usd',
          '       3  00:02:00  contest scheduled          1',
          '',
        ].join('\n'),
      )
      // oxlint-disable-next-line no-control-regex -- colours are what is looked for
      assert.match(drawn({ NO_COLOR: '', TERM: 'xterm' }), /\u001b\[2m/)
    },
  )
})

suite('get', () => {
  test('prints an answer as it came, with the parameters of the API as options', async () => {
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

  test('asks for what its argument names, and says where a page goes on', async () => {
    const ledger = await run(['get', 'contest-ledger', service.url, '3'])
    assert.equal(ledger.stdout, `${await textOf('/contests/3/ledger')}\n`)
    const page = await run(['get', 'payouts', service.url, '--limit', '1'])
    assert.match(page.stderr, /^there is more: --after \d+$/m)
  })

  test('prints a table where it is asked for one: what is owed below what it is called', async () => {
    const { stdout } = await run(['get', 'contest', service.url, '3', '--format', 'table'])
    const { spentOnPlay } = JSON.parse(await textOf('/contests/3'))
    assert.equal(/^spentOnPlay +([\d .]+)$/m.exec(stdout)?.[1]?.replaceAll(' ', ''), spentOnPlay)
    assert.doesNotMatch(stdout, /AtMs/)
  })

  test('tells a wrong use from what is not there', async () => {
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
    assert.match(unknown.stderr, /^daybook: No event has this seq/)
    const bucket = await run(['get', 'flows', service.url, '--bucket', 'fortnight'])
    assert.equal(bucket.code, 2)
    assert.match(bucket.stderr, /Allowed choices are minute, hour, day, week/)
  })
})

suite('export', () => {
  test('prints a range as the API’s CSV', async () => {
    const { code, stdout, stderr } = await run(['export', service.url, '--format', 'csv', '--to', '2026-09'])
    assert.equal(code, 0)
    assert.equal(stdout, await textOf('/events?format=csv&limit=10000&to=2026-09-01'))
    assert.match(stderr, /2187 events of seq 1 to 2187/)
  })

  test('prints lines between two moments, filtered', async () => {
    const range = ['--from', '2026-08-03', '--to', '2026-08-04T12:00Z']
    const { stdout } = await run(['export', service.url, ...range, '--type', 'payout,burn', '--after', '700'])
    const query = 'from=2026-08-03&to=2026-08-04T12:00Z&type=payout,burn&after=700&limit=10000'
    const { events } = JSON.parse(await textOf(`/events?${query}`))
    assert.equal(stdout, events.map((event: object) => `${JSON.stringify(event)}\n`).join(''))
    assert.ok(events.length > 0)
  })
})

suite('pull', () => {
  const to = join(folder, 'copy')
  const july = join(to, 'archive', '2026-07.jsonl.gz')

  test('lays out months so that sha256sum and verify find them right', async () => {
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

  test('fetches nothing again that is there and right', async () => {
    await using proxy = await startProxy(service.url, () => 'none')
    const { stderr } = await run(['pull', proxy.url, '2026-07', '--to', to])
    assert.match(stderr, /^0 files came \(0 bytes\), 2 were there and right$/m)
    assert.deepEqual(
      proxy.asked.map(([path]) => path).filter((path) => path.endsWith('.gz')),
      [],
    )
  })

  test('goes on after the last byte that came, in this run and from the last', async () => {
    const whole = readFileSync(july)
    rmSync(july)
    writeFileSync(`${july}.part`, whole.subarray(0, 1_000))
    writeFileSync(
      `${july}.part.etag`,
      (await fetch(`${service.url}/api/v1/archive/2026-07.jsonl.gz`)).headers.get('etag') ?? '',
    )
    await using proxy = await startProxy(service.url, (path, count) =>
      path.endsWith('07.jsonl.gz') && count === 1
        ? { cutAfter: 500, once: () => statSync(`${july}.part`).size === 1_500 }
        : 'none',
    )
    const { code, stderr } = await run(['pull', proxy.url, '2026-07', '--to', to], { random: () => 0 })
    assert.equal(code, 0, stderr)
    assert.deepEqual(readFileSync(july), whole)
    const ranges = proxy.asked.flatMap(([path, { range }]) => (path.endsWith('07.jsonl.gz') ? [range] : []))
    assert.deepEqual(ranges, ['bytes=1000-', 'bytes=1500-'])
    assert.ok(!existsSync(`${july}.part`))
  })

  test('begins anew what is not what its manifest says', async () => {
    const whole = readFileSync(july)
    writeFileSync(july, whole.subarray(1))
    writeFileSync(`${july}.part`, Buffer.alloc(whole.length))
    writeFileSync(`${july}.part.etag`, '"another"')
    const { code } = await run(['pull', service.url, '2026-07', '--to', to])
    assert.equal(code, 0)
    assert.deepEqual(readFileSync(july), whole)
  })

  test('says which months there are where none is in the range', async () => {
    const { code, stderr } = await run(['pull', service.url, '2020-01..2020-03', '--to', to])
    assert.equal(code, 2)
    assert.match(stderr, /the archive has 2026-07 to 2026-\d\d/)
    for (const words of ['2026-13', '2026-09..2026-01', '..', '2026-01..2026-02..2026-03']) {
      assert.equal((await run(['pull', service.url, words, '--to', to])).code, 2, words)
    }
  })
})

suite('an address', () => {
  test('that is none, or that nobody answers at, is told in one line', async () => {
    for (const [url, code, words] of [
      ['data.example.org', 2, /give the address of the service/],
      ['http://127.0.0.1:1/api', 2, /without a path/],
    ] as const) {
      const ended = await run(['get', 'status', url])
      assert.equal(ended.code, code)
      assert.match(ended.stderr, words)
    }
  })
})
