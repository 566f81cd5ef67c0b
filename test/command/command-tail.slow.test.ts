import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { skipWithout } from '../processes/test-needs.ts'
import { publishDeposit, run, start } from '../stage/command-stage.ts'
import { type Service, startService } from '../stage/service.ts'
import { MAIN, SAMPLE } from '../stage/places.ts'

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
  test('prints the lines of the archive, byte for byte, and the command that resumes', async () => {
    const { code, stdout, stderr } = await run(['tail', service.url, '--after', '0', '--no-follow'])
    const files = ['2026-07', '2026-08'].map((month) => bytesOf(`/archive/${month}.jsonl.gz`))
    assert.equal(code, 0)
    assert.equal(stdout, (await Promise.all(files)).map((file) => gunzipSync(file)).join(''))
    assert.match(stderr, /^2187 shown, 2187 read, complete up to seq 2187$/m)
    assert.match(stderr, /^resume: daybook tail http:\/\/127\.0\.0\.1:\d+ --no-follow --after 2187$/m)
  })

  test('begins with the last events that match the filter, in order', async () => {
    const filter = ['--type', 'payout,burn', '--kind', 'winner,refund', '--contest-id', '1,2,3']
    const words = ['tail', service.url, '-n', '5', '--no-follow', ...filter]
    const { stdout, stderr } = await run(words)
    const page = JSON.parse(
      await textOf('/events?order=desc&limit=5&type=payout,burn&kind=winner,refund&contestId=1,2,3'),
    )
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      page.events.toReversed(),
    )
    assert.match(
      stderr,
      /resume: .* --type payout,burn --kind winner,refund --contest-id 1,2,3 --no-follow --after 2187$/m,
    )
  })

  test('begins at a moment, and ends after a number of events', async () => {
    const words = [
      'tail',
      service.url,
      '--from',
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

  test('shows prices, titles and corrected events in a table', async () => {
    const words = [
      'tail',
      service.url,
      '--format',
      'table',
      '--no-follow',
      '--type',
      'price,contest,correction',
    ]
    const whole = await run([...words, '--after', '0'])
    assert.equal(whole.code, 0, whole.stderr)
    const rows = whole.stdout.split('\n')
    const { events, details } = JSON.parse(
      await textOf('/events?type=price,contest,correction&details=1&limit=10000'),
    )
    for (const { seq, type } of events) {
      const { price, title, corrects } = details[seq] ?? {}
      const row = rows.find((one) => one.startsWith(`${String(seq).padStart(8)}  `)) ?? ''
      if (type === 'price') assert.ok(row.endsWith(` $${price}`), row)
      else if (type === 'correction') assert.ok(row.includes(` corrects ${corrects}`), row)
      else if (title !== undefined) assert.ok(row.includes(title.slice(0, 20)), row)
    }
    const last = await run([...words, '--last', '3'], { interactive: true })
    const [first] = events.slice(-3)
    assert.match(
      last.stderr,
      new RegExp(`^127\\.0\\.0\\.1:\\d+ · from seq ${first.seq} · press Ctrl-C to stop$`, 'm'),
    )
    assert.ok(rows.includes(last.stdout.trimEnd().split('\n').at(-1) ?? ''), last.stdout)
  })

  test('follows, ends with 0 when interrupted, and continues from its cursor file without loss', async () => {
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
      new RegExp(`^resume: npm run -s daybook -- tail \\S+ --type treasury --cursor ${cursor}$`, 'm'),
    )

    await publishDeposit(service, 'tail-2')
    const two = await publishDeposit(service, 'tail-3')
    const second = await run([...words, '--no-follow'])
    assert.equal(second.stdout, `${await textOf(`/events/${two - 1}`)}\n${await textOf(`/events/${two}`)}\n`)
    assert.equal(JSON.parse(readFileSync(cursor, 'utf8')).seq, two)
  })

  test('names the head when it should begin after it', async () => {
    for (const follow of [[], ['--no-follow']]) {
      const { code, stderr } = await run(['tail', service.url, '--after', '999999', ...follow])
      assert.equal(code, 2, stderr)
      assert.match(stderr, /^daybook: .*\b2\d{3}\b.*\n$/)
    }
  })

  test('refuses a cursor of another log, and a file that holds no cursor', async () => {
    const file = join(folder, 'foreign')
    writeFileSync(file, '{"log":"another","seq":3}')
    const foreign = await run(['tail', service.url, '--cursor', file])
    assert.equal(foreign.code, 1)
    assert.match(foreign.stderr, /daybook: the cursor belongs to another log/)
    writeFileSync(file, 'no cursor')
    assert.equal((await run(['tail', service.url, '--cursor', file])).code, 2)
  })

  test('ends without an error when its reader goes away', async () => {
    const { child, ended } = start(['tail', service.url, '--after', '0'])
    child.stdout?.once('data', () => child.stdout?.destroy())
    const { code, stderr } = await ended()
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stderr, /EPIPE|    at /)
  })

  const script = '/usr/bin/script'
  test(
    'prints a table on a terminal, without colours when NO_COLOR is set',
    { skip: skipWithout('script') },
    () => {
      const command = `stty cols 100; ${process.execPath} ${MAIN} tail ${service.url} --after 0 --count 3 2>/dev/null`
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
          '       1  00:00:00  treasury deposit               2,400,000.000000000  67gf92WK…9fVC5bJ1',
          '       2  00:00:00  price usd                          $0.042132232813',
          '       3  00:02:00  contest scheduled          1                        Daily Remix: Lost Gloves',
          '',
        ].join('\n'),
      )
      // oxlint-disable-next-line no-control-regex -- the test searches for colours
      assert.match(drawn({ NO_COLOR: '', TERM: 'xterm' }), /\u001b\[2m/)
    },
  )
})
