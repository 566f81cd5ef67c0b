import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { flowsPage, patternsPage } from './fairness-attacks.ts'
import { share } from '../stage/measure.ts'
import { OWED_PRIZES, OWING } from '../stage/owing-store.ts'
import type { QuestionSubjects } from '../stage/questions.ts'
import { ms, table, thousands } from '../stage/report.ts'
import { type BenchService, startBenchService } from '../stage/service.ts'
import { threadCpu } from '../stage/thread-cpu.ts'

/** Time for which the idle service is measured before each answer. */
const IDLE_MS = 300
/** Goals in milliseconds: of an answer on the serving loop, of each row that it reads, and of one step. */
const ANSWER_MS = 5
const ROW_MS = 0.01
const STEP_MS = 10
/** Different answers of one kind in each round. */
const DRAWINGS = 5

type CostlyAnswer = Readonly<{
  name: string
  /** Rows or buckets that the answer reads. */
  rows: number
  /** Addresses of the same kind, requested first, so that the code is compiled. */
  warm: readonly string[]
  /** Different addresses, each requested once per round, so that none is cached. */
  paths: readonly string[]
}>

function costlyAnswers(asked: QuestionSubjects): readonly CostlyAnswer[] {
  const { most, some, few } = OWING
  const draw = (path: (number: number, of: QuestionSubjects) => string, first: number): readonly string[] =>
    Array.from({ length: DRAWINGS }, (_, index) => path(first + index, asked))
  const contests = asked.contests.length
  return [
    {
      name: `/payouts?contestId=, ${few.prizes} prizes`,
      rows: few.prizes,
      warm: ['/payouts', `/payouts?contestId=${asked.contests.at(-1)}`],
      paths: [`/payouts?contestId=${few.contestId}`],
    },
    {
      name: `/payouts?contestId=, ${thousands(most.prizes)} prizes`,
      rows: most.prizes,
      warm: [`/payouts?contestId=${some.contestId}`],
      paths: [`/payouts?contestId=${most.contestId}`],
    },
    {
      name: '/payouts.ics',
      rows: OWED_PRIZES,
      warm: [`/payouts.ics?contestId=${some.contestId}`],
      paths: ['/payouts.ics'],
    },
    {
      name: '/payouts.ics?contestId=',
      rows: most.prizes,
      warm: [`/payouts.ics?contestId=${few.contestId}`],
      paths: [`/payouts.ics?contestId=${most.contestId}`],
    },
    { name: '/contests.csv', rows: contests, warm: ['/contests.csv?limit=5000'], paths: ['/contests.csv'] },
    {
      name: '/api/v1/contests?limit=9999',
      rows: contests,
      warm: ['/api/v1/contests?limit=5000'],
      paths: draw((number) => `/api/v1/contests?limit=${9_999 - number}`, 0),
    },
    { name: '/patterns', rows: 168, warm: draw(patternsPage, 0), paths: draw(patternsPage, DRAWINGS) },
    {
      name: '/flows, 1,440 minutes',
      rows: 1_440,
      warm: draw(flowsPage, 0),
      paths: draw(flowsPage, DRAWINGS),
    },
    {
      name: '/api/v1/flows, 1,440 minutes',
      rows: 1_440,
      warm: draw(flowsAnswer, 0),
      paths: draw(flowsAnswer, DRAWINGS),
    },
    {
      name: `ledger page, ${thousands(some.prizes)} open prizes`,
      rows: some.prizes,
      warm: [`/contests/${few.contestId}/ledger`],
      paths: [`/contests/${some.contestId}/ledger`],
    },
  ]
}

function flowsAnswer(number: number, asked: QuestionSubjects): string {
  return `/api/v1${flowsPage(number + 100, asked)}`
}

/**
 * Cost of one answer: ms on the main thread and on other threads, and KiB; or the longest wait of another request, in
 * ms.
 */
type Cost = Readonly<{ loop: number; elsewhere: number; kib: number; step: number }>

/** Table of the cost of each answer. Every round starts a service with empty caches. */
export async function answerCosts(data: string, asked: QuestionSubjects, rounds: number): Promise<string> {
  const answers = costlyAnswers(asked)
  const costs = answers.map((): Cost[] => [])
  for (let round = 0; round < rounds; round++) {
    // A second request would count on the same thread, so processor time and waits are measured in separate rounds.
    for (const measure of [costOf, stepOf]) {
      await using service = await startBenchService(data)
      for (const path of answers.flatMap(({ warm }) => warm)) await fetchLength(service.port, path)
      for (const [index, { paths }] of answers.entries()) {
        for (const path of paths) costs[index]?.push(await measure(service, path))
      }
    }
  }
  const rows = answers.map(({ name, rows: read }, index) => rowOf(name, read, costs[index] ?? []))
  const columns = ['one answer', 'rows', 'loop ms', 'elsewhere ms', 'goal', 'held', 'step ms', 'step', 'KiB']
  return [
    '### Processor time of one answer on the serving loop',
    '',
    `Milliseconds of processor time of the thread that serves and of all others (medians; ${rounds} starts, no answer out of a cache, gzipped where the service does so, less what the idle service takes), and the longest that another request had to wait meanwhile, which is the longest single step. Goals: ${ANSWER_MS} ms and ${ROW_MS * 1000} µs for each row or bucket read, and steps of ${STEP_MS} ms.`,
    '',
    table(columns, rows),
    '',
  ].join('\n')
}

function rowOf(name: string, read: number, costs: readonly Cost[]): string[] {
  const median = (column: keyof Cost): number =>
    share(
      costs.map((cost) => cost[column]).filter((value) => !Number.isNaN(value)),
      0.5,
    )
  const goal = ANSWER_MS + read * ROW_MS
  return [
    name,
    thousands(read),
    ms(median('loop')),
    ms(median('elsewhere')),
    ms(goal),
    median('loop') <= goal ? 'OK' : 'OVER',
    ms(median('step')),
    median('step') <= STEP_MS ? 'OK' : 'OVER',
    median('kib').toFixed(0),
  ]
}

async function costOf({ pid, port }: BenchService, path: string): Promise<Cost> {
  const idle = await cpuDuring(pid, () => delay(IDLE_MS))
  let bytes = 0
  const spent = await cpuDuring(pid, async () => {
    bytes = await fetchLength(port, path)
  })
  // Subtracts the background work, such as the audit of the log.
  const share_ = spent.wallMs / idle.wallMs
  return {
    loop: Math.max(0, spent.main - share_ * idle.main),
    elsewhere: Math.max(0, spent.others - share_ * idle.others),
    kib: bytes / 1024,
    step: Number.NaN,
  }
}

/** Processor time of a process's threads during the work, and the duration of the work. */
async function cpuDuring(pid: number, work: () => Promise<unknown>) {
  const [before, beganMs] = [threadCpu(pid), performance.now()]
  await work()
  const [after, wallMs] = [threadCpu(pid), performance.now() - beganMs]
  return { main: after.main - before.main, others: after.others - before.others, wallMs }
}

/** Requests a small answer repeatedly while the other is made. The slowest of them waited for the longest step. */
async function stepOf({ port, ask }: BenchService, path: string): Promise<Cost> {
  const ended = new AbortController()
  const taken = fetchLength(port, path).finally(() => ended.abort())
  let step = 0
  while (!ended.signal.aborted) {
    const beganMs = performance.now()
    await ask('/api/v1/summary')
    step = Math.max(step, performance.now() - beganMs)
  }
  await taken
  return { loop: Number.NaN, elsewhere: Number.NaN, kib: Number.NaN, step }
}

/** Reads an answer as a browser does, and returns its length in bytes; rejects unless the status is 200. */
function fetchLength(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': 'gzip' }
    get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.byteLength))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes)
        else reject(new Error(`${path}: ${response.statusCode}`))
      })
    }).on('error', reject)
  })
}
