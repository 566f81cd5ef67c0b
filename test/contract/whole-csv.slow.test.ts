import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { type Service, startService } from '../stage/service.ts'
import { skipUnless } from '../processes/test-needs.ts'

/** Events of the log. A campaign sets the variable to 5000000. */
const EVENTS = Number(process.env['DAYBOOK_EXPORT_EVENTS'] ?? 30_000)
/** Growth of the memory of the process, in KiB: the heaps of its threads, whatever the length of the log. */
const GROWTH_KIB_MAX = 400 * 1024
const SECOND_MS = 1_000
const NEWLINE = 0x0a

/** Writes trades, a second apart, and a price for every tenth. */
async function writeDrafts(path: string): Promise<void> {
  const file = createWriteStream(path)
  for (let index = 0; index < EVENTS; index += 1) {
    const at = new Date(Date.UTC(2026, 6, 1) + index * 10).toISOString()
    const draft =
      index % 10 === 0
        ? { at, type: 'price', kind: 'usd', details: { price: '0.25' } }
        : { at, type: 'trade', kind: 'buy', kots: String(index), tx: `transaction-${index}-`.padEnd(88, 'x') }
    if (!file.write(`${JSON.stringify(draft)}\n`)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
}

/** Id of the service's process. */
function processOf({ data }: Service): string {
  const found = readdirSync('/proc').find((entry) => {
    try {
      return (
        /^\d+$/.test(entry) &&
        readFileSync(`/proc/${entry}/cmdline`, 'latin1').includes(`serve\0--data\0${data}`)
      )
    } catch {
      return false
    }
  })
  assert.ok(found !== undefined, 'the service runs')
  return found
}

/** Memory of a process that no file backs, in KiB. The mapped store is not counted: the kernel may drop it. */
function memoryOf(id: string): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'latin1'))?.[1])
}

/** Measures the memory of a process until the work ends: at its start, and at its peak. */
async function memoryDuring(id: string, work: () => Promise<void>): Promise<{ start: number; peak: number }> {
  const memory = { start: memoryOf(id), peak: 0 }
  const look = (): void => {
    memory.peak = Math.max(memory.peak, memoryOf(id))
  }
  const timer = setInterval(look, 50)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  look()
  return memory
}

suite('whole CSV files of a service', { skip: skipUnless(process.platform === 'linux', 'Linux') }, () => {
  let folder: string
  let service: Service
  let id: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-whole-'))
    await writeDrafts(join(folder, 'drafts.jsonl'))
    service = await startService({
      drafts: join(folder, 'drafts.jsonl'),
      chain: 'opaque',
      options: ['--workers', '2', '--rate-limit', 'off', '--trust-proxy', '127.0.0.1/32'],
    })
    id = processOf(service)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** Status, rows and bytes of a file, over a new connection, which the kernel may give to any thread. */
  async function fileOf(
    caller: string,
    query = '',
  ): Promise<readonly [status: number, rows: number, bytes: number]> {
    const headers = { 'x-forwarded-for': caller, connection: 'close' }
    const answer = await fetch(`${service.url}/api/v1/events?format=csv${query}`, { headers })
    let rows = -1
    let bytes = 0
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.byteLength
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) rows += 1
    }
    return [answer.status, rows, bytes]
  }

  test('have every event, and cost memory that does not depend on their length', async (context) => {
    await fileOf('10.0.0.1')
    const { start, peak } = await memoryDuring(id, async () => {
      for (const query of ['', '&details=1', '', '&details=1']) {
        const began = performance.now()
        const [status, rows, bytes] = await fileOf('10.0.0.1', query)
        assert.deepEqual([status, rows], [200, EVENTS])
        const seconds = (performance.now() - began) / SECOND_MS
        context.diagnostic(`${query || 'plain'}: ${rows} rows, ${bytes} bytes, ${seconds.toFixed(1)} s`)
      }
    })
    context.diagnostic(`memory: ${start} KiB at first, ${peak} KiB at the peak`)
    assert.ok(peak - start < GROWTH_KIB_MAX, `${peak - start} KiB more`)
  })

  test('of an address are counted over all threads', async () => {
    const { start, peak } = await memoryDuring(id, async () => {
      const callers = Array.from({ length: 20 }, (_, index) => `10.1.0.${index + 1}`)
      const asked = callers.flatMap((caller) => [fileOf(caller), fileOf(caller), fileOf(caller)])
      const answers = await Promise.all(asked)
      const whole = answers.filter(([status]) => status === 200)
      assert.ok(whole.every(([, rows]) => rows === EVENTS))
      // An address whose first file has ended may begin a third one.
      assert.ok(whole.length >= 40 && answers.every(([status]) => status === 200 || status === 429))
    })
    assert.ok(peak - start < GROWTH_KIB_MAX, `${peak - start} KiB more`)
  })

  test('leave no place taken when their callers leave', async () => {
    for (let round = 0; round < 5; round += 1) {
      const ended = new AbortController()
      const headers = { 'x-forwarded-for': '10.2.0.1' }
      const open = [0, 1].map(() =>
        fetch(`${service.url}/api/v1/events?format=csv`, { headers, signal: ended.signal }),
      )
      await Promise.all(open)
      ended.abort()
    }
    const limit = performance.now() + 10 * SECOND_MS
    for (;;) {
      const metrics = await (await fetch(`${service.publishUrl}/metrics`)).text()
      if (/^daybook_exports_open 0$/m.test(metrics)) break
      assert.ok(performance.now() < limit, 'all places are free')
    }
    assert.deepEqual((await fileOf('10.2.0.1')).slice(0, 2), [200, EVENTS])
  })
})
