import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import { bigStore } from './stage/big-store.ts'
import { share } from './stage/measure.ts'
import { subjectsOf, questions } from './stage/questions.ts'
import {
  type BenchSettings,
  benchSettings,
  ms,
  sayBuilding,
  SMALL_EVENTS,
  table,
  thousands,
} from './stage/report.ts'
import { type Memory, startBenchService } from './stage/service.ts'

/** Measures the time from start to first answer, and the memory and reads of a service, by size of the log. */

const START_MS_MAX = 2_000
const STARTS = 5
/** Drawings of each question between the measurements "after the start" and "after questions". */
const QUESTIONS_EACH = 20

const settings = benchSettings(join(tmpdir(), 'daybook-bench'))
process.stdout.write(`${await starts(settings)}\n`)

async function starts({ store, events }: BenchSettings): Promise<string> {
  const rows: string[][] = []
  for (const count of [SMALL_EVENTS, events]) {
    const data = bigStore(store, count, sayBuilding(count))
    const firstAnswers: number[] = []
    let idle: Memory | null = null
    let after: Memory | null = null
    for (let start = 0; start < STARTS; start++) {
      await using service = await startBenchService(data)
      firstAnswers.push(service.firstAnswerMs)
      if (start < STARTS - 1) continue
      idle = service.memory()
      await askAll(service.ask, data)
      after = service.memory()
    }
    const [median, max] = [share(firstAnswers, 0.5), share(firstAnswers, 1)]
    rows.push([
      thousands(count),
      ms(median),
      ms(max),
      ms(START_MS_MAX),
      max <= START_MS_MAX ? 'OK' : 'OVER',
      ...[idle?.readMiB, idle?.own, idle?.mapped, after?.own, after?.mapped].map(mib),
    ])
  }
  const columns = [
    'events',
    'median',
    'max',
    'goal',
    'held',
    'read',
    'own',
    'mapped',
    'own, after',
    'mapped, after',
  ]
  return [
    '## Start of the service',
    '',
    `Milliseconds from the start of the process to the whole of its first answer, ${STARTS} starts. Then what the process had read by then and what it holds, in MiB: memory of its own, and pages of files that are mapped (the system may take those back); again after ${QUESTIONS_EACH} drawings of every question.`,
    '',
    table(columns, rows),
    '',
  ].join('\n')
}

async function askAll(ask: (url: string) => Promise<unknown>, data: string): Promise<void> {
  const random = randomOf('start')
  const reader = openReader(data, null)
  const asked = reader.snapshot(subjectsOf)
  reader.close()
  for (const question of questions()) {
    for (let drawing = 0; drawing < QUESTIONS_EACH; drawing++) await ask(question.draw(random, asked).url)
  }
}

function mib(value: number | undefined): string {
  return value === undefined ? '?' : value.toFixed(1)
}
