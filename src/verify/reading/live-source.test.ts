import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../../test/stage/audit-stage.ts'
import { publicLog, type PublicLog } from '../../../test/story/public-log.ts'
import { openVirtualClock } from '../../../test/stage/virtual-clock.ts'
import { openAsk } from '../../client/ask.ts'
import { openLiveSource } from './live-source.ts'
import type { Source } from './source.ts'
import { answerOfNode } from '../../../test/story/node-answers.ts'
import { monthOf } from '../../protocol/moment.ts'
import type { Audit } from '../audit.ts'
import { isVerified } from '../report.ts'

const log = publicLog(RICH_LOG)
const WINDOW_MS = 60_000

type Sent = { path: string; atMs: number; status: number }

/** Service with a rate limit, on a simulated clock. */
function stage(
  requests: number,
  breaks: (path: string) => boolean = () => false,
): Readonly<{ source: Source; sent: Sent[] }> {
  const clock = openVirtualClock()
  const sent: Sent[] = []
  const fetch = async (url: string): Promise<Response> => {
    const path = url.slice('https://daybook.test/api/v1/'.length)
    const atMs = clock.now()
    const window = sent.filter((one) => one.status !== 429 && one.atMs > atMs - WINDOW_MS)
    const left = requests - window.length
    const oldest = window[0]?.atMs ?? atMs
    const reset = Math.ceil((oldest + WINDOW_MS - atMs) / 1000)
    const headers = {
      'ratelimit-policy': `"default";q=${requests};w=60`,
      ratelimit: `"default";r=${Math.max(0, left - 1)};t=${reset}`,
    }
    const body = log.body(path)
    const status = left <= 0 ? 429 : body === undefined ? 404 : 200
    sent.push({ path, atMs, status })
    if (status === 429)
      return new Response('{}', { status, headers: { ...headers, 'retry-after': String(reset) } })
    if (breaks(path)) return new Response(brokenBody(), { headers })
    return new Response(body === undefined ? '{}' : Buffer.from(body), { status, headers })
  }
  const ask = openAsk({ base: 'https://daybook.test', ...clock, random: () => 0.5, fetch })
  return { source: openLiveSource(ask, clock.sleep, new AbortController().signal), sent }
}

function brokenBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(3))
      controller.error(new TypeError('terminated'))
    },
  })
}

suite('a service with its public rate limit', () => {
  for (const requests of [21, 30]) {
    test(`of ${requests} requests a minute is verified without exceeding the limit`, async () => {
      const { source, sent } = stage(requests)
      const found = await auditOf(log, undefined, { source })
      assert.deepEqual(findingLines(found), [])
      assert.ok(sent.length > requests, `${sent.length} requests`)
      assert.deepEqual(
        sent.filter(({ status }) => status === 429),
        [],
      )
      for (const { atMs } of sent) {
        const window = sent.filter((one) => one.atMs <= atMs && one.atMs > atMs - WINDOW_MS)
        assert.ok(window.length <= requests, `${window.length} requests in a minute`)
      }
    })
  }

  test('is requested again after a file breaks off', async () => {
    let times = 0
    const { source } = stage(600, (path) => path.endsWith('.jsonl.gz') && times++ < 2)
    assert.deepEqual(findingLines(await auditOf(log, undefined, { source })), [])
    assert.ok(times > 2)
  })

  test('cannot be verified when a file always breaks off', async () => {
    const { source } = stage(6_000, (path) => path.endsWith('.jsonl.gz'))
    await assert.rejects(auditOf(log, undefined, { source }), { code: 'unreachable' })
  })

  test('is wrong only at the address that it refuses', async () => {
    const { source } = stage(600)
    const read: Source['read'] = (path) => source.read(path === 'schedule' ? 'no-such-path' : path)
    const found = await auditOf(log, undefined, { source: { ...source, read } })
    assert.deepEqual(findingLines(found), ['schedule | schedule: is missing'])
  })

  test('ends with a clear error when two answers name different logs', async () => {
    let count = 0
    const fetch = async (): Promise<Response> => {
      count += 1
      return new Response('{}', { headers: { 'daybook-log': String(count) } })
    }
    const clock = openVirtualClock()
    const ask = openAsk({ base: 'https://daybook.test', ...clock, random: () => 0.5, fetch })
    const source = openLiveSource(ask, clock.sleep, new AbortController().signal)
    await source.read('log/keys')
    await assert.rejects(source.read('summary'), {
      code: 'another-log',
      message: 'the service has another log now',
    })
  })
})

/** A node that has the first `size` events of the varied log, and one that lacks the last of them. */
function nodes(size: number): Readonly<{ ahead: PublicLog; behind: PublicLog }> {
  const ahead = publicLog(RICH_LOG.slice(0, size))
  return { ahead, behind: publicLog(RICH_LOG.slice(0, size - 1), ahead.key, ahead.now) }
}

/** Verifies a service of two nodes. `isBehind` says which of them gives the answer number `count`, from 1, at a path. */
async function audited(
  { ahead, behind }: ReturnType<typeof nodes>,
  isBehind: (path: string, count: number) => boolean,
): Promise<Readonly<{ found: Audit; asked: ReadonlyMap<string, number>; ms: number }>> {
  const clock = openVirtualClock()
  const asked = new Map<string, number>()
  const fetch = async (url: string): Promise<Response> => {
    const path = url.slice('https://daybook.test/api/v1/'.length)
    const count = (asked.get(path) ?? 0) + 1
    asked.set(path, count)
    return answerOfNode(isBehind(path, count) ? behind : ahead, path)
  }
  const ask = openAsk({ base: 'https://daybook.test', ...clock, random: () => 0.5, fetch })
  const source = openLiveSource(ask, clock.sleep, new AbortController().signal)
  return { found: await auditOf(ahead, undefined, { source }), asked, ms: clock.now() }
}

/** Runs in which the node that is behind gives the first answers at some of the paths, at each path in one run. */
const PARTS = 7

const endsOf = (is: (index: number) => boolean): number => RICH_LOG.findLastIndex((_, index) => is(index)) + 1

/** Numbers of events after which the newest one is of a kind that a node behind lacks. */
const ENDS: readonly (readonly [what: string, size: number])[] = [
  ['has details', endsOf((index) => RICH_LOG[index]?.details !== null)],
  [
    'begins a month',
    endsOf((index) => {
      const [before, own] = RICH_LOG.slice(Math.max(0, index - 1), index + 1)
      return before !== undefined && own !== undefined && monthOf(before.event.atMs) < monthOf(own.event.atMs)
    }),
  ],
  [
    'opens a contest',
    endsOf((index) => {
      const id = RICH_LOG[index]?.event.contestId ?? null
      return id !== null && RICH_LOG.findIndex(({ event }) => event.contestId === id) === index
    }),
  ],
]

suite('a log behind two nodes', () => {
  for (const [what, size] of ENDS) {
    test(`is verified though one of them lacks for some seconds the last event, which ${what}`, async () => {
      const both = nodes(size)
      const { asked, ms } = await audited(both, () => false)
      assert.equal(ms, 0)
      assert.ok(asked.size > 20)
      const paths = [...asked.keys()]
      for (let from = 0; from < PARTS; from++) {
        const late = new Set(paths.filter((_, index) => index % PARTS === from))
        const { found } = await audited(both, (path, count) => late.has(path) && count <= 2)
        assert.deepEqual([isVerified(found), findingLines(found)], [true, []], [...late].join(' '))
      }
    })
  }

  const [[, size] = ['', 0]] = ENDS
  const both = nodes(size)
  const month = monthOf(RICH_LOG[size - 1]?.event.atMs ?? assert.fail())

  test('is read again a second later while the details of the open month lack the last ones', async () => {
    const details = `archive/${month}.details.jsonl.gz`
    const { found, asked, ms } = await audited(both, (path, count) => path === details && count <= 2)
    assert.deepEqual([isVerified(found), asked.get(details), ms], [true, 3, 2_000])
  })

  test('is not accused when a node stays behind: the run ends', async () => {
    const details = `archive/${month}.details.jsonl.gz`
    await assert.rejects(
      audited(both, (path) => path === details),
      {
        code: 'behind',
        message: `the node that answered is behind: ${details} ends with seq ${size - 1}, and another node has shown seq ${size}; try again later`,
      },
    )
  })

  test('needs no wait for an events file that lacks a few events, which are read one by one', async () => {
    const { found, ms } = await audited(both, (path) => path === `archive/${month}.jsonl.gz`)
    assert.deepEqual([isVerified(found), ms], [true, 0])
  })
})
