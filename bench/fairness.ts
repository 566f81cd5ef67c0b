import { fork } from 'node:child_process'
import { get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openReader } from '../src/log/open-reader.ts'
import { bigStore } from './stage/big-store.ts'
import { startService } from './stage/processes.ts'
import { benchSettings, quantile, report } from './stage/report.ts'

/**
 * Measures how long a stranger waits while 100 addresses ask for pages of 10,000 rows, all within their rate limit and all
 * at once: of the attacks that we know, the one that makes others wait longest. The peer is the same service at rest.
 * Linux only: it needs many addresses.
 */

/** Requests of one address per minute, the default of a service. */
const RATE_LIMIT = 60
const ATTACKERS = 100
const ATTACKER_REQUESTS = 59
const PAGE_ROWS = 10_000
const ASK_EVERY_MS = 50
/** Addresses of the stranger, used in turn, so that each stays within the limit. */
const STRANGERS = 30
const ANSWER_MS_MAX = 30_000
/** Pages are asked first, because the first request for a page waits until the scripts are bundled. */
const WARM_MS = 3_000

if (process.argv[2] === 'attack') attack(Number(process.argv[3]), Number(process.argv[4]))
else await fairness()

async function fairness(): Promise<void> {
  const { store, events, full } = benchSettings()
  const data = bigStore(store, events)
  const reader = openReader(data, null)
  const last = reader.snapshot(({ head }) => head.seq)
  reader.close()
  const [quietMs, attackMs, slices] = full ? [10_000, 20_000, 3] : [3_000, 5_000, 3]
  const [quiet, attacked]: [number[], number[]] = [[], []]
  for (let slice = 0; slice < slices; slice++) {
    await using service = await startService(data, ['--workers', '1', '--rate-limit', `${RATE_LIMIT}`])
    const { port } = service
    const p99 = async (part: number, ms: number): Promise<number> =>
      quantile(await strangerWaits(port, part, ms, last), 0.99)
    await p99(1, WARM_MS)
    quiet.push(await p99(2, quietMs))
    const attacker = fork(import.meta.filename, ['attack', `${port}`, `${last}`])
    attacked.push(await p99(3, attackMs))
    attacker.kill('SIGKILL')
  }
  const what = 'wait of a stranger while 100 addresses ask for pages of 10,000 rows, 99 of 100'
  report([{ what, unit: 'ms', peer: 'at rest', ours: attacked, theirs: quiet, better: 'less' }])
}

/**
 * Asks for the summary, the first page and 20 events by turns, at fixed moments and each over a new connection. Resolves
 * with the milliseconds of each answer. A late answer does not delay the next request, and one that is not 200 counts as late.
 */
async function strangerWaits(
  port: number,
  part: number,
  ms: number,
  last: number,
): Promise<readonly number[]> {
  const waits: Promise<number>[] = []
  for (const began = performance.now(); performance.now() - began < ms; await sleep(ASK_EVERY_MS)) {
    const number = waits.length
    const after = Math.floor((last / 21) * (1 + (Math.floor(number / 3) % 20)))
    const path = ['/api/v1/summary', '/', `/api/v1/events?limit=20&after=${after}`][number % 3]
    waits.push(waitFor(port, path ?? '/', `127.30.${part}.${1 + (number % STRANGERS)}`))
  }
  return Promise.all(waits)
}

function waitFor(port: number, path: string, localAddress: string): Promise<number> {
  const began = performance.now()
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path, localAddress, agent: false, signal }, (response) => {
      response.resume()
      response.on('error', () => resolve(ANSWER_MS_MAX))
      response.on('end', () =>
        resolve(response.statusCode === 200 ? performance.now() - began : ANSWER_MS_MAX),
      )
    }).on('error', () => resolve(ANSWER_MS_MAX))
  })
}

/** Sends all requests of all attackers at once, and reads the answers. Runs in a process of its own, until it is killed. */
function attack(port: number, last: number): void {
  for (let attacker = 0; attacker < ATTACKERS; attacker++) {
    const requests = Array.from({ length: ATTACKER_REQUESTS }, (_, request) => {
      // The step shares no factor with the number of places, so no page is asked twice.
      const after = ((attacker * ATTACKER_REQUESTS + request) * 7_919) % (last - PAGE_ROWS)
      return `GET /api/v1/events?limit=${PAGE_ROWS}&after=${after} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    })
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.20.0.${1 + attacker}` })
    // A server may close an attacker's connection in any way.
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(requests.join(''))
  }
}
