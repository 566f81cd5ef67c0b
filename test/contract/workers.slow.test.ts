import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { skipUnless } from '../processes/test-needs.ts'
import { type Service, startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'
import { publishTo } from '../stage/node-process.ts'

/** Sends a request over a new connection, which the kernel may give to any thread. */
const anew = (url: string): Promise<Response> => fetch(url, { headers: { connection: 'close' } })

async function statusOf(url: string): Promise<number> {
  const answer = await anew(url)
  await answer.arrayBuffer()
  return answer.status
}

async function publish(to: Service, ref: string, tx?: string): Promise<number | undefined> {
  const { drafts } = await publishTo(to, [{ ref, type: 'treasury', kind: 'deposit', kots: '1', tx }])
  return drafts[0]?.seq
}

/** Seqs of a live stream's events, as they arrive. */
async function* seqsOf(url: string, signal: AbortSignal): AsyncGenerator<number> {
  const response = await fetch(url, { headers: { accept: 'application/x-ndjson' }, signal })
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { seq } = JSON.parse(line) as { seq?: number }
      if (seq !== undefined) yield seq
    }
  }
}

suite('several threads on one port', { skip: skipUnless(process.platform === 'linux', 'Linux') }, () => {
  test('keep one exact allowance for an address', async () => {
    await using service = await startService({ drafts: SAMPLE, options: ['--workers', '3'] })
    const asked = Array.from({ length: 150 }, () => statusOf(`${service.url}/api/v1/status`))
    const codes = await Promise.all(asked)
    assert.equal(codes.filter((code) => code === 200).length, 60)
    assert.equal(codes.filter((code) => code === 429).length, 90)
  })

  test('count the streams of an address together', async () => {
    await using service = await startService({ options: ['--workers', '3', '--rate-limit', 'off'] })
    const ended = new AbortController()
    const open = Array.from({ length: 14 }, () =>
      fetch(`${service.url}/api/v1/stream`, { signal: ended.signal, headers: { connection: 'close' } }),
    )
    const codes = (await Promise.all(open)).map((response) => response.status)
    assert.equal(codes.filter((code) => code === 200).length, 10)
    assert.equal(codes.filter((code) => code === 429).length, 4)
    ended.abort()
  })

  suite('of a service without allowances', () => {
    let service: Service
    before(async () => {
      service = await startService({ drafts: SAMPLE, options: ['--workers', '3', '--rate-limit', 'off'] })
    })
    after(() => service[Symbol.asyncDispose]())

    // The first test needs the figures of a service that nobody has asked.
    test('share their figures on the private listener', async () => {
      await Promise.all(Array.from({ length: 60 }, () => statusOf(`${service.url}/api/v1/status`)))
      const metrics = await (await fetch(`${service.publishUrl}/metrics`)).text()
      assert.match(metrics, /^daybook_http_requests_total\{route="\/api\/v1\/status",[^}]*code="200"\} 60$/m)
      assert.match(metrics, /^daybook_log_head_seq 2187$/m)
    })

    test('each answer every event that any of them has streamed', async () => {
      const ended = new AbortController()
      const live = seqsOf(`${service.url}/api/v1/stream`, ended.signal)
      const first = live.next()
      for (let round = 0; round < 20; round += 1) {
        const seq = await publish(service, `worker-${round}`)
        const streamed = round === 0 ? await first : await live.next()
        assert.equal(streamed.value, seq)
        const asked = Array.from({ length: 6 }, () => statusOf(`${service.url}/api/v1/events/${seq}`))
        assert.deepEqual(await Promise.all(asked), [200, 200, 200, 200, 200, 200])
      }
      ended.abort()
    })

    test('each find a new event by its transaction', async () => {
      const { events } = (await (await fetch(`${service.url}/api/v1/events?type=payout&limit=1`)).json()) as {
        events: { seq: number; tx: string }[]
      }
      const [known] = events
      assert.ok(known !== undefined)
      const again = await publish(service, 'again', known.tx)
      const asked = Array.from({ length: 12 }, async () => {
        const answer = await anew(`${service.url}/api/v1/events?tx=${known.tx}`)
        const found = (await answer.json()) as { events: { seq: number }[] }
        return found.events.map(({ seq }) => seq)
      })
      for (const seqs of await Promise.all(asked)) assert.deepEqual(seqs, [known.seq, again])
    })
  })
})
