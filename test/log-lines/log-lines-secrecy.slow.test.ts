import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../sim/random.ts'
import { type FactName, FACTS, OPTIONAL_FIELDS } from '../../src/command/log-lines/facts.ts'
import { LINES_A_SECOND_MAX } from '../../src/command/log-lines/log-lines.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'

/** Stands in every value that is sent, so a line that repeats any of them has it. */
const MARK = 'Zq7mark'
const AMOUNT = '424242.171717171'
const CALLER = '203.0.113.77'
const CALLER6 = '2001:db8:77:88:99:aa:bb:cc'
/** Addresses in forms that the guard refuses. */
const ADDRESSES = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
]
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const GARBAGE = [
  `00-${MARK}-x-01`,
  `${TRACE}, ${TRACE}`,
  TRACE.toUpperCase(),
  `${TRACE}-${MARK}`,
  '\u001B[2J',
  '{"a":1}',
]
/** Drafts of the flood; each is refused. */
const FLOOD = 150
/** Requests that are sent at the same time. */
const TOGETHER = 30
const SEED = 16
const WAIT_MS_MAX = 60_000

type Line = Readonly<Record<string, unknown>> & Readonly<{ fact: FactName }>

/** Values that must be in no line, the key of the log and the token among them. */
function secretsOf(data: string): readonly string[] {
  const key = readFileSync(`${data}.key`, 'utf8').split('\n')[1] ?? assert.fail('the key has a body')
  const token = readFileSync(`${data}.token`, 'utf8').trim()
  return [
    MARK,
    AMOUNT,
    token,
    key,
    CALLER,
    CALLER6,
    'Zq7',
    '171717171',
    ...ADDRESSES.map((one) => one.slice(2, 20)),
  ]
}

/** Lines of standard error. Each must be one JSON object of the table, in printable characters. */
function linesOf(text: string): readonly Line[] {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    const parsed = JSON.parse(line) as Line
    assert.equal(parsed['level'], FACTS[parsed.fact].level)
    const fields = FACTS[parsed.fact].fields
    const known = ['level', 'time', 'fact', 'msg', ...fields]
    assert.deepEqual(
      Object.keys(parsed).filter((name) => !known.includes(name)),
      [],
      line,
    )
    const needed = fields.filter((field) => !OPTIONAL_FIELDS.some((one) => one === field))
    for (const field of needed) assert.ok(field in parsed, `${parsed.fact} lacks ${field}`)
    return parsed
  })
}

const good = (ref: string): object => ({
  ref: `${MARK}-${ref}`,
  type: 'treasury',
  kind: 'deposit',
  kots: AMOUNT,
  tx: `${MARK}${ref}`,
})

/** Drafts that the publish API refuses, each with the mark somewhere. */
function hostileDrafts(): readonly unknown[] {
  const random = randomOf(`log lines ${SEED}`)
  const pick = <Value>(values: readonly Value[]): Value => values[random.below(values.length)] as Value
  const texts = [
    MARK,
    `${MARK}\r\n{"fact":"ready"}`,
    `\u001B[31m${MARK}`,
    `${MARK}\u2028`,
    MARK.repeat(100),
    ...ADDRESSES,
  ]
  const base = good('base')
  return Array.from({ length: FLOOD }, (_, index) => {
    const field = pick([
      'ref',
      'type',
      'kind',
      'kots',
      'tx',
      'contestId',
      'at',
      'details',
      MARK,
      ADDRESSES[0] ?? '',
    ])
    const value = pick<unknown>([
      pick(texts),
      { [pick(texts)]: pick(texts) },
      [pick(texts)],
      `${AMOUNT}7`,
      null,
    ])
    return {
      ...base,
      ref: `${MARK}-flood-${index}`,
      [field]: field === 'details' ? { title: value } : value,
      x: MARK,
    }
  })
}

async function post(
  node: NodeProcess,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { token } = node
  const response = await fetch(`${node.publishUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body,
  })
  await response.arrayBuffer()
  return response
}

/** Sends bytes as they are, and waits until the connection is closed. */
async function sendBytes(port: number, bytes: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.resume().write(bytes, 'latin1')
  await once(socket, 'close')
}

/** Sends everything that must not be repeated; returns the number of requests. */
async function beHostile(node: NodeProcess): Promise<number> {
  const bodies = [
    ...hostileDrafts().map((draft) => JSON.stringify([draft])),
    `[{"ref":"${MARK}`,
    `{"${MARK}":1}`,
    `[{"ref":"${MARK}","ref":"${MARK}"}]`,
    JSON.stringify([good('one'), { ...good('one'), kots: '1' }]),
    JSON.stringify([{ ...good('poor'), type: 'treasury', kind: 'withdrawal' }]),
  ]
  for (let at = 0; at < bodies.length; at += TOGETHER) {
    const some = bodies.slice(at, at + TOGETHER)
    await Promise.all(some.map((body) => post(node, '/publish', body, { traceparent: TRACE })))
  }
  for (const type of [MARK, 'application/x-ndjson'])
    await post(node, '/publish', MARK, { 'content-type': type })
  await post(node, `/publish?token=${MARK}`, '[]')
  await post(node, '/held/drop', JSON.stringify({ refs: [MARK], reason: MARK }))
  await post(node, '/held/vouch', JSON.stringify({ refs: [MARK, MARK], [MARK]: MARK }))
  for (const wrong of [`Bearer ${MARK}`, `Basic ${MARK}`, ''])
    await post(node, '/publish', '[]', { authorization: wrong })
  const port = Number(new URL(node.url).port)
  const targets = [
    `/${MARK}`,
    `/api/v1/${MARK}?${MARK}=${MARK}`,
    `/api/v1/events?after=${MARK}`,
    `/${MARK.repeat(400)}`,
  ]
  const raw = [
    ...targets.flatMap((target) => [
      `GET ${target} HTTP/1.1\r\nHost: a\r\nUser-Agent: {"${MARK}":1}\r\nX-Forwarded-For: ${CALLER}\r\n`,
      `GET ${target} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${CALLER6}\r\nCookie: {"a":"${MARK}"}\r\n`,
    ]),
    ...GARBAGE.map((trace) => `GET /api/v1/${MARK} HTTP/1.1\r\nHost: a\r\ntraceparent: ${trace}\r\n`),
    `GET /${MARK} HTTP/1.1\r\nHost: a\r\nUser-Agent: \u001B[2J${MARK}\r\n`,
    `GET /a\rb${MARK} HTTP/1.1\r\nHost: a\r\n`,
    `GET /\u0000${MARK} HTTP/1.1\r\nHost: a\r\n`,
    `${MARK} / HTTP/1.1\r\nHost: ${MARK}\r\n`,
    `GET http://${MARK}/ HTTP/1.1\r\nHost: a\r\n`,
  ]
  await Promise.all(raw.map((head) => sendBytes(port, `${head}Connection: close\r\n\r\n`)))
  return bodies.length + raw.length
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + WAIT_MS_MAX
  while (!holds()) {
    assert.ok(performance.now() < end, 'the line is written')
    await sleep(20)
  }
}

const OPTIONS: readonly (readonly [name: string, options: readonly string[]])[] = [
  ['by default', []],
  [
    'at debug with callers, of two threads',
    [
      ['--log-level', 'debug', '--log-callers', '--trust-proxy', '127.0.0.1', '--workers', '2'],
      ['--rate-limit', '10000'],
    ].flat(),
  ],
]

suite('the log lines of a service', () => {
  for (const [name, options] of OPTIONS) {
    test(`repeat nothing that was sent, ${name}, and are one JSON object each`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-lines-'))
      try {
        const data = join(folder, 'data')
        const node = await startNode(data, options)
        t.after(() => void node.child.kill('SIGKILL'))
        const secrets = secretsOf(data)
        assert.equal((await post(node, '/publish', JSON.stringify([good('a'), good('b')]))).status, 200)
        const sent = await beHostile(node)
        const nothing = await fetch(`${node.url}/api/v1/nothing`, { headers: { traceparent: TRACE } })
        await nothing.arrayBuffer()
        const isDebug = options.includes('debug')
        const id = nothing.headers.get('daybook-request')
        if (isDebug) await until(() => node.stderr().includes(`"request":"${id}"`))
        assert.equal((await node.end('SIGTERM')).code, 0)

        const lines = linesOf(node.stderr())
        assert.ok(sent > FLOOD, 'there was enough traffic')
        for (const secret of secrets) {
          const found = lines.filter((line) =>
            JSON.stringify(line).toLowerCase().includes(secret.toLowerCase()),
          )
          assert.deepEqual(found, [], secret)
        }
        const facts = lines.map(({ fact }) => fact)
        const expected: readonly FactName[] = [
          ...(['starting', 'options', 'ready', 'audit-begun', 'audited', 'published'] as const),
          ...(['refused', 'suppressed', 'unauthorized', 'stopping', 'stopped'] as const),
        ]
        for (const fact of expected) assert.ok(facts.includes(fact), `${fact} is missing`)
        assert.ok(facts.every((fact) => fact in FACTS))
        assert.ok(
          facts.filter((fact) => fact === 'refused').length < FLOOD,
          `more than ${LINES_A_SECOND_MAX} a second`,
        )
        const refused = lines.find(({ fact }) => fact === 'refused')
        assert.equal(refused?.['traceparent'], TRACE)
        const [published] = lines.filter(({ fact }) => fact === 'published')
        assert.deepEqual([published?.['first'], published?.['last'], published?.['events']], [1, 2, 2])

        const problem = lines.find(({ request }) => request === id)
        assert.equal(problem?.['traceparent'], isDebug ? TRACE : undefined)
        const traces = lines.flatMap(({ traceparent }) => (traceparent === undefined ? [] : [traceparent]))
        assert.deepEqual([...new Set(traces)], [TRACE], 'a malformed one is ignored')
        const callers = new Set(lines.map(({ caller }) => caller).filter((caller) => caller !== undefined))
        const networks = ['127.0.0.0/24', '2001:db8:77::/48', '203.0.113.0/24']
        assert.deepEqual(callers, new Set(isDebug ? networks : []))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }
})
