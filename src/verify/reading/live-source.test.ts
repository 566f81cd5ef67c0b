import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, RICH_LOG, findingLines } from '../../../test/stage/audit-stage.ts'
import { publicLog } from '../../../test/story/public-log.ts'
import { openVirtualClock } from '../../../test/stage/virtual-clock.ts'
import { openAsk } from '../../client/ask.ts'
import { openLiveSource } from './live-source.ts'
import type { Source } from './source.ts'

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
