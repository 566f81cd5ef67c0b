import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { openReader } from '../src/log/open-reader.ts'
import { answerCosts } from './fairness/fairness-answers.ts'
import { type Attack, ATTACKS } from './fairness/fairness-attacks.ts'
import type { AttackResult, AttackPlan } from './fairness/fairness-load.ts'
import type { StrangerPlan, StrangerResult } from './fairness/fairness-stranger.ts'
import { share } from './stage/measure.ts'
import { owingStore } from './stage/owing-store.ts'
import { type QuestionSubjects, subjectsOf } from './stage/questions.ts'
import { ms, QUICK_EVENTS, sayBuilding, table, thousands } from './stage/report.ts'
import { startBenchService } from './stage/service.ts'

/**
 * Measures how long one caller waits while others use their whole allowance at once. Linux only: it needs many
 * addresses.
 */

const HELP = `node bench/fairness.ts [--store DIR] [--events N] [--full] [--only WORDS] [--no-answers]

  --store DIR    where big stores are kept between runs
  --events N     events of the store
  --full         longer slices
  --only WORDS   attacks whose name holds these words
  --no-answers   without the processor time of single answers
`
/** Requests of one address per minute, the default of a service. Pages have ten times as many. */
const RATE_LIMIT = 60
/**
 * Goals for the 99th percentile of the stranger's wait: milliseconds, or a multiple of its wait on an idle service. The
 * larger one counts.
 */
const GOAL_MS = 50
const GOAL_QUIET = 20
/** Factor of the goal when many addresses attack. */
const GOAL_MANY = 10
const ASK_EVERY_MS = 50
/** Addresses of the stranger. None of them sends more than 40 requests per minute. */
const STRANGERS = 30
/** Delay of the attack after the stranger's first request. */
const LEAD_MS = 300
const FIRST_PAGE_MS_MAX = 60_000

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: join(tmpdir(), 'daybook-bench') },
    events: { type: 'string', default: String(QUICK_EVENTS) },
    runs: { type: 'string' },
    full: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'no-answers': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const slices = values.full
  ? { warmMs: 6_000, quietMs: 10_000, attackMs: 20_000, waitMs: 30_000, rounds: 3 }
  : { warmMs: 4_000, quietMs: 3_000, attackMs: 5_000, waitMs: 10_000, rounds: 1 }
process.stdout.write(values.help ? HELP : `${await fairness(Number(values.events))}\n`)

async function fairness(events: number): Promise<string> {
  const data = owingStore(values.store, events, sayBuilding(events))
  const asked = askedOfStore(data)
  const loadBefore = loadavg()[0] ?? 0
  const rows: string[][] = []
  for (const attack of ATTACKS.filter(({ name }) => name.includes(values.only))) {
    rows.push(await rowOf(attack, data, asked))
  }
  const columns = [
    'attack',
    'addresses',
    'quiet p99',
    'p50',
    'p99',
    'max',
    'unanswered',
    'p99 is',
    'goal',
    'held',
    'its answers',
  ]
  return [
    `## Fairness, on a log of ${thousands(asked.events)} events`,
    '',
    `Milliseconds that a stranger waits, who asks for the summary, the first page and 20 events by turns, every ${ASK_EVERY_MS} ms over a new connection, while others attack within an allowance of ${RATE_LIMIT} requests a minute. Quiet: the same on the same service before the attack. "p99 is": so many times the quiet one. The goal is ${GOAL_MS} ms or ${GOAL_QUIET} times the quiet p99, whichever is more, and ${GOAL_MANY} times that where more than one address attacks. A question that had no 200 after ${slices.waitMs / 1000} s is unanswered and counts as that. Slices of ${slices.quietMs / 1000} and ${slices.attackMs / 1000} s, each attack on a service of its own that has been asked pages for ${slices.warmMs / 1000} s; attackers and the stranger are processes of their own on the same machine. Its answers: by status, as far as the attacker read them. Load of the machine ${loadBefore.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end.`,
    '',
    table(columns, rows),
    '',
    ...(values['no-answers'] ? [] : [await answerCosts(data, asked, slices.rounds)]),
  ].join('\n')
}

function askedOfStore(data: string): QuestionSubjects {
  const reader = openReader(data, null)
  try {
    return reader.snapshot(subjectsOf)
  } finally {
    reader.close()
  }
}

async function rowOf(attack: Attack, data: string, asked: QuestionSubjects): Promise<string[]> {
  await using service = await startBenchService(data, String(RATE_LIMIT), attack.workers)
  const { port } = service
  const ask = (forMs: number, first: number): Promise<StrangerResult> =>
    stranger({ port, forMs, waitMs: slices.waitMs }, first, questionsOf(asked))
  // Asks for pages first, because the first request for a page waits until the islands are bundled.
  await stranger({ port, forMs: slices.warmMs, waitMs: FIRST_PAGE_MS_MAX }, 1, pastPages(asked))
  const quiet = share((await ask(slices.quietMs, 2)).took, 0.99)
  const [{ took, unanswered }, attacked] = await Promise.all([
    ask(slices.attackMs + LEAD_MS, 3),
    begin(attack, service.port, asked),
  ])
  const goal = Math.max(GOAL_MS, GOAL_QUIET * quiet) * (attack.addresses > 1 ? GOAL_MANY : 1)
  const p99 = share(took, 0.99)
  return [
    attack.name,
    String(attack.addresses),
    ...[quiet, share(took, 0.5), p99, share(took, 1)].map(ms),
    `${unanswered} of ${took.length}`,
    `${(p99 / quiet).toFixed(1)} ×`,
    ms(goal),
    p99 <= goal ? 'OK' : 'OVER',
    answersOf(attacked),
  ]
}

function answersOf({ byStatus, bytes }: AttackResult): string {
  const counts = Object.entries(byStatus).map(([status, count]) => `${count} × ${status}`)
  return counts.length === 0 ? '' : `${counts.join(', ')}, ${(bytes / 2 ** 20).toFixed(0)} MiB`
}

/** Sends requests from addresses that no other slice uses. `first` is the slice's own part of the address. */
function stranger(
  slice: Pick<StrangerPlan, 'port' | 'forMs' | 'waitMs'>,
  first: number,
  paths: readonly string[],
): Promise<StrangerResult> {
  const addresses = Array.from({ length: STRANGERS }, (_, index) => `127.30.${first}.${1 + index}`)
  const plan: StrangerPlan = { ...slice, everyMs: ASK_EVERY_MS, addresses, paths }
  return run<StrangerResult>('fairness/fairness-stranger.ts', plan)
}

function questionsOf({ events }: QuestionSubjects): readonly string[] {
  const pages = Array.from({ length: 20 }, (_, index) => Math.floor((events / 21) * (index + 1)))
  return pages.flatMap((after) => ['/api/v1/summary', '/', `/api/v1/events?limit=20&after=${after}`])
}

/** Pages of many moments, so that no page is cached and both answer threads work. */
function pastPages({ from, to }: QuestionSubjects): readonly string[] {
  return Array.from(
    { length: 1_000 },
    (_, index) => `/summary?at=${Math.floor(from + ((to - from) / 1_001) * index)}`,
  )
}

async function begin(attack: Attack, port: number, asked: QuestionSubjects): Promise<AttackResult> {
  let number = 0
  const request = (): string => {
    const host = attack.host?.(number) ?? '127.0.0.1'
    return `GET ${attack.path(number++, asked)} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\n\r\n`
  }
  const connections = Array.from({ length: attack.addresses * attack.connectionsEach }, (_, index) => {
    const address = Math.floor(index / attack.connectionsEach)
    const requests = Array.from({ length: attack.requests }, request)
    return { address: `127.20.0.${1 + address}`, requests }
  })
  const plan: AttackPlan = { port, forMs: slices.attackMs, way: attack.way, connections }
  await new Promise((resolve) => setTimeout(resolve, LEAD_MS))
  return await run<AttackResult>('fairness/fairness-load.ts', plan)
}

/** Runs a script of this folder with a plan as its input, and returns its parsed output. */
async function run<T>(script: string, plan: object): Promise<T> {
  const path = new URL(script, import.meta.url).pathname
  const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  child.stdin.end(JSON.stringify(plan))
  const told = await text(child.stdout)
  const [code] = await exited
  if (code !== 0) throw new Error(`${script} ended with ${String(code)}`)
  return JSON.parse(told) as T
}
