import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { suite, test } from 'node:test'
import { msOf } from '../../protocol/moment.ts'
import { shortenSender } from '../../protocol/sender-key.ts'
import {
  LINE_TEXT_CHARS_MAX,
  LINES_A_SECOND_MAX,
  type LogLines,
  openLines,
  openMainLines,
  WAITING_BYTES_MAX,
} from './log-lines.ts'

const AT = msOf(Date.UTC(2026, 10, 23, 6, 22, 31, 120))
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'

type Line = Readonly<Record<string, unknown>>
type Stage = Readonly<{ lines: LogLines; written(): readonly string[]; parsed(): readonly Line[] }> & {
  clockMs: number
}

function openStage(interactive = false): Stage {
  let text = ''
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString()
      done()
    },
  })
  const stage = { clockMs: 0 }
  const lines = openMainLines({ now: () => AT, monotonicMs: () => stage.clockMs, stderr, interactive })
  const written = (): readonly string[] => text.split('\n').slice(0, -1)
  const parsed = (): readonly Line[] => written().map((line) => JSON.parse(line) as Line)
  return Object.assign(stage, { lines, written, parsed })
}

suite('a log line', () => {
  test('is one JSON object with level, time, fact, fields and message', () => {
    const { lines, written } = openStage()
    lines.say('few-files', { openFiles: 200, connectionsMax: 60, wanted: 900, threads: 2 })
    assert.deepEqual(written(), [
      '{"level":"warn","time":"2026-11-23T06:22:31.120Z","fact":"few-files","openFiles":200,"connectionsMax":60,' +
        '"wanted":900,"threads":2,"msg":"this process may open 200 files only: raise LimitNOFILE or ulimit -n"}',
    ])
  })

  test('is readable on a terminal, with the stack of an error below it', () => {
    const { lines, written } = openStage(true)
    lines.say('stopped', { ms: 7 })
    lines.say('rpc-fault', { rpc: 'URL 1 (a.example)', fault: 'refused', rpcCode: '-32602', count: 2 })
    lines.say('rejection', { err: new Error('outer', { cause: new TypeError('inner') }) })
    const [first, second, third, ...stack] = written()
    assert.equal(first, '06:22:31Z stopped after 7 ms')
    assert.equal(
      second,
      '06:22:31Z WARN a server of --finality gave no usable answer rpc=URL 1 (a.example) fault=refused rpcCode=-32602 count=2',
    )
    assert.equal(third, '06:22:31Z FATAL unhandled rejection')
    assert.equal(stack[0], '  Error: outer')
    assert.match(stack.join('\n'), /\n {4}at .*\n {4}TypeError: inner\n {6}at /)
  })

  test('has each option in effect as a word on a terminal', () => {
    const { lines, written } = openStage(true)
    lines.say('options', { settings: { data: 'log', 'trust-proxy': '', port: 8080, 'verify-first': true } })
    assert.deepEqual(written(), ['06:22:31Z options in effect data=log port=8080 verify-first=true'])
  })

  test('of a lower level than chosen is not written', () => {
    const { lines, parsed } = openStage()
    lines.say('stream-ended', { fault: 'lifetime', seq: 1 })
    lines.choose({ level: 'debug', callers: false })
    lines.say('stream-ended', { fault: 'lifetime', seq: 2 })
    lines.choose({ level: 'fatal', callers: false })
    lines.say('clock-wrong', { fault: 'stepped', reason: 'x' })
    assert.deepEqual(
      parsed().map(({ seq }) => seq),
      [2],
    )
  })

  test('names the network of a caller only when asked', () => {
    const { lines, parsed } = openStage()
    const fields = { request: 'd-1', status: 401, code: 'unauthorized', caller: '203.0.113.0/24' }
    lines.say('unauthorized', fields)
    lines.choose({ level: 'info', callers: true })
    lines.say('unauthorized', fields)
    assert.deepEqual(
      parsed().map(({ caller }) => caller),
      [undefined, '203.0.113.0/24'],
    )
  })

  test('hides a text that holds what looks like a wallet address, also in a cause, and cuts long text', () => {
    const { lines, parsed, written } = openStage()
    lines.say('chain-failed', { reason: `no answer about ${ADDRESS}` })
    lines.say('rejection', { err: new Error('outer', { cause: new Error(`of ${ADDRESS}`) }) })
    lines.say('chain-failed', { reason: 'x'.repeat(5_000) })
    assert.doesNotMatch(written().join('\n'), /52908400098527886/i)
    assert.equal(String(parsed()[2]?.['reason']).length, LINE_TEXT_CHARS_MAX + 1)
  })

  test('has nothing of an error but name, message, stack and cause', () => {
    const { lines, written } = openStage()
    const error = Object.assign(new Error('broken'), { rawPacket: 'secret bytes', actual: 'secret value' })
    lines.say('rejection', { err: error })
    lines.say('rejection', { err: 'a string' })
    lines.say('rejection', { err: { secret: 'secret object' } })
    assert.doesNotMatch(written().join('\n'), /secret/)
  })

  test('is one line of printable characters, whatever its texts hold', () => {
    const hostile = 'a\r\nb\u001B[2J\u009B2J\u007F\u2028\u202Ec\u{E0001}"}{\uD800'
    for (const interactive of [false, true]) {
      const { lines, written } = openStage(interactive)
      lines.say('chain-failed', { reason: hostile })
      assert.equal(written().length, 1)
      assert.doesNotMatch(written()[0] ?? '', /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }
    const { lines, parsed } = openStage()
    lines.say('chain-failed', { reason: hostile })
    assert.equal(parsed()[0]?.['reason'], hostile)
  })

  test('of one fact is written twenty times a second, and the rest are counted', () => {
    const stage = openStage()
    const refuse = (): void =>
      stage.lines.say('refused', { request: 'd-1', status: 400, code: 'invalid-draft', field: 'kots' })
    for (let times = 0; times < 1_000; times += 1) refuse()
    stage.lines.say('stopped', { ms: 1 })
    stage.lines.flush()
    const facts = stage.parsed().map(({ fact }) => fact)
    assert.equal(facts.filter((fact) => fact === 'refused').length, LINES_A_SECOND_MAX)
    assert.ok(facts.includes('stopped'), 'other facts have their own limit')
    assert.deepEqual(stage.parsed().at(-1)?.['count'], 1_000 - LINES_A_SECOND_MAX)
    assert.deepEqual(stage.parsed().at(-1)?.['of'], 'refused')
    stage.clockMs += 1_000
    refuse()
    assert.equal(stage.parsed().at(-1)?.['fact'], 'refused')
  })

  test('is lost and counted while nobody reads standard error', () => {
    const waiting: (() => void)[] = []
    let text = ''
    const stderr = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString()
        waiting.push(done)
      },
    })
    let clockMs = 0
    const monotonicMs = (): number => (clockMs += 1_000)
    const lines = openMainLines({ now: () => AT, monotonicMs, stderr, interactive: false })
    const said = 2_000
    for (let times = 0; times < said; times += 1) lines.say('note', { words: 'y'.repeat(500) })
    assert.ok(stderr.writableLength < WAITING_BYTES_MAX + 4_096)
    for (let done = waiting.shift(); done !== undefined; done = waiting.shift()) done()
    while (stderr.writableLength > 0) waiting.shift()?.()
    lines.say('stopped', { ms: 1 })
    while (stderr.writableLength > 0) waiting.shift()?.()
    const all = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    const lost = all.find(({ fact }) => fact === 'lost')
    assert.equal(all.filter(({ fact }) => fact === 'note').length + Number(lost?.['count']), said)
  })

  test('of another thread is written by the main thread, with the same choice', () => {
    const { lines, parsed } = openStage()
    const thread = openLines(
      (name, values) => lines.write(name, structuredClone(values)),
      () => 0,
      lines.choice(),
    )
    for (let times = 0; times < 30; times += 1)
      thread.say('read-failed', { err: new Error('bad'), of: 'head' })
    thread.say('answered', { request: 'a-1', route: '/', status: 200, code: 'none', ms: 1 })
    thread.flush()
    const written = parsed()
    assert.equal(written.length, LINES_A_SECOND_MAX + 1)
    assert.equal(Reflect.get(Object(written[0]?.['err']), 'message'), 'bad')
    assert.deepEqual(written.at(-1)?.['count'], 10)
  })
})

test('the network of a caller has 24 bits of an IPv4 address and 48 of an IPv6 address', () => {
  for (const [key, network] of [
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['fe80::1%eth0', 'fe80::/48'],
    ['unknown', 'unknown'],
    ['', 'unknown'],
  ] as const) {
    assert.equal(shortenSender(key), network)
  }
})
