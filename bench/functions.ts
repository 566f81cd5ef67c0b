import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Contests } from '../src/protocol/endpoints/contest-endpoints.ts'
import type { Entered } from './functions/entered.ts'
import { bigStore } from './stage/big-store.ts'
import { table } from './stage/report.ts'

/**
 * Counts the files and functions of `src` that are entered, in all threads, on three ways through a warm service: an
 * answer of the API, a page, and a draft until a stream has its event. No answer comes from a cache. Functions that an idle
 * service enters too are left out: timers call them, such as those of streams.
 */

const EVENTS = 12_000
/** Requests before the first count, and requests of which only what all of them enter is counted. */
const WARM_UP = 2
const COUNTED = 4
/** Milliseconds in which an idle service is watched. */
const IDLE_MS = 1_500
/** Milliseconds until all threads have sent their counts. */
const THREADS_MS = 1_000

const directory = mkdtempSync(join(tmpdir(), 'daybook-functions-'))
try {
  const data = bigStore(directory, EVENTS)
  const service = await startCounted(data)
  const contests = await contestsOf(service.url)
  const rows = [
    ['GET /api/v1/flows', (turn: number) => get(`${service.url}/api/v1/flows?from=2024-01-${10 + turn}`)],
    [
      'GET /contests/…/ledger, the page',
      (turn: number) => get(`${service.url}/contests/${contests[turn]}/ledger`),
    ],
    ['POST /publish until a stream has the event', await publishing(service, data, contests.at(-1))],
  ] as const
  const counted: string[][] = []
  for (const [name, act] of rows) counted.push([name, ...(await counts(service.child, act))])
  process.stdout.write(`${table(['way', 'files', 'functions'], counted)}\n`)
  service.child.kill('SIGTERM')
  await once(service.child, 'exit')
} finally {
  rmSync(directory, { recursive: true })
}

/** Files and functions that every one of the counted acts has entered, and an idle service has not. */
async function counts(child: ChildProcess, act: (turn: number) => Promise<unknown>): Promise<string[]> {
  for (let turn = 0; turn < WARM_UP; turn++) await act(turn)
  await taken(child)
  await sleep(IDLE_MS)
  const idle = await taken(child)
  let every: ReadonlySet<string> | undefined
  for (let turn = WARM_UP; turn < WARM_UP + COUNTED; turn++) {
    await act(turn)
    const entered = await taken(child)
    every = every?.intersection(entered) ?? entered
  }
  const functions = [...(every?.difference(idle) ?? [])]
  if (process.argv.includes('--list')) process.stdout.write(`${functions.toSorted().join('\n')}\n`)
  const files = new Set(functions.map((one) => one.split(':', 1)[0]))
  return [`${files.size}`, `${functions.length}`]
}

/** Functions that the threads have entered since the last call. */
async function taken(child: ChildProcess): Promise<ReadonlySet<string>> {
  const entered = new Set<string>()
  const add = (functions: Entered): void => functions.forEach((one) => entered.add(one))
  child.on('message', add)
  child.send('take')
  await sleep(THREADS_MS)
  child.off('message', add)
  return entered
}

type Counted = Readonly<{ child: ChildProcess; url: string; publishUrl: string }>

/** Starts `daybook serve`, which counts in every thread. */
async function startCounted(data: string): Promise<Counted> {
  const [preload, main] = ['./functions/entered.ts', '../src/main.ts'].map((path) =>
    import.meta.resolve(path),
  )
  const listeners = ['--port', '0', '--publish-port', '0', '--rate-limit', 'off', '--drain', '0']
  const words = ['--import', `${preload}`, new URL(`${main}`).pathname, 'serve', '--data', data, ...listeners]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  if (child.stderr === null) throw new Error('the service has no output')
  for await (const line of createInterface({ input: child.stderr })) {
    const [url, publishUrl] = new Set(line.match(/http:\/\/127\.0\.0\.1:\d+/g))
    if (url === undefined || publishUrl === undefined) continue
    child.stderr.resume()
    return { child, url, publishUrl }
  }
  throw new Error('the service did not start')
}

async function get(url: string): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return await response.text()
}

/** Ids of all contests, the oldest first: these have paid prizes. */
async function contestsOf(url: string): Promise<readonly number[]> {
  const page: Contests = JSON.parse(await get(`${url}/api/v1/contests?limit=1000`))
  return page.contests.map(({ id }) => id).toReversed()
}

/** Opens a stream; publishes one event at a time and reads until the stream has it. */
async function publishing(
  { url, publishUrl }: Counted,
  data: string,
  contestId: number | undefined,
): Promise<(turn: number) => Promise<void>> {
  const token = readFileSync(join(data, 'publish-token'), 'utf8').trim()
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const stream = await fetch(`${url}/api/v1/stream`)
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  return async (turn) => {
    const draft = { ref: `counted-${turn}`, type: 'play', kind: 'vote', contestId, kots: '1.000000000' }
    const sent = await fetch(`${publishUrl}/publish`, {
      method: 'POST',
      headers,
      body: JSON.stringify([draft]),
    })
    if (!sent.ok) throw new Error(await sent.text())
    await reader?.read()
  }
}
