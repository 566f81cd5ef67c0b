import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import type { LogReader } from '../src/log/store/reader.ts'
import { openForReading, storePath } from '../src/log/store/store.ts'
import { assert } from '../src/protocol/brand.ts'
import { bigStore } from './stage/big-store.ts'
import { measure, measureAsync, type Timing, verdict } from './stage/measure.ts'
import { peersTable } from './peers.ts'
import { type Question, questions, type QuestionSubjects, subjectsOf } from './stage/questions.ts'
import {
  type BenchSettings,
  benchSettings,
  ms,
  sayBuilding,
  SMALL_EVENTS,
  table,
  thousands,
} from './stage/report.ts'
import { startBenchService } from './stage/service.ts'

/** Measures uncached answers in process and over HTTP, on a small and a large log. */

const settings = benchSettings(join(tmpdir(), 'daybook-bench'))
process.stdout.write(`${await answers(settings)}\n`)

async function answers({ store, events, runs }: BenchSettings): Promise<string> {
  const data = bigStore(store, events, sayBuilding(events))
  const large = inProcess(data, runs)
  const small = inProcess(bigStore(store, SMALL_EVENTS, sayBuilding(SMALL_EVENTS)), runs)
  const http = await overHttp(data, runs)
  const rows = questions().map(({ name, goalMs }, index) => {
    const [of, before, asked] = [large[index], small[index], http[index]]
    assert(of !== undefined && before !== undefined, `question ${name} was asked`)
    return [
      name,
      ...[of.median, of.p99, of.max, of.cpu ?? 0].map(ms),
      ...(asked === undefined || asked === null ? ['cached', ''] : [ms(asked.median), ms(asked.p99)]),
      ms(goalMs),
      verdict(goalMs, of, asked ?? null),
      `${(of.median / before.median).toFixed(1)} ×`,
      (of.chars / 1024).toFixed(of.chars < 10_240 ? 1 : 0),
    ]
  })
  const columns = [
    'question',
    'median',
    'p99',
    'max',
    'CPU p99',
    'HTTP median',
    'HTTP p99',
    'goal',
    'held',
    'growth',
    'KiB',
  ]
  return [
    `## Answers, on a log of ${thousands(events)} events over three years`,
    '',
    `Milliseconds, at most ${runs} seeded drawings each, none of them cached: computed from a fresh snapshot to the answer's text, and over HTTP on one connection. A goal is held by 99 of 100; "busy" where only the processor time of 99 of 100 (CPU p99) and the median over HTTP hold it, since the machine did other things too. Growth: the median against that on a log of ${thousands(SMALL_EVENTS)} events; lists of contests and prizes are longer on the larger log, and cost what they are long. KiB: the longest answer.`,
    '',
    table(columns, rows),
    '',
    'The same questions in SQL over the events of the same store, medians:',
    '',
    withReader(data, (reader, asked) => peersTable(reader, openForReading(storePath(data)), asked.to)),
    '',
  ].join('\n')
}

/** Timing of a question, and the length of its longest answer in characters. */
type Answered = Timing & Readonly<{ chars: number }>

function inProcess(data: string, runs: number): readonly Answered[] {
  return withReader(data, (reader, asked) =>
    questions().map((question) => {
      const random = randomOf(question.name)
      let chars = 0
      const timing = measure(runs, () => {
        const drawn = question.draw(random, asked)
        return () => {
          chars = Math.max(chars, reader.snapshot((snapshot) => drawn.compute(snapshot)).length)
        }
      })
      return { ...timing, chars }
    }),
  )
}

/** Null when all drawings have the same address, because HTTP would answer the second one from the cache. */
async function overHttp(data: string, runs: number): Promise<readonly (Timing | null)[]> {
  const asked = withReader(data, (_reader, log) => log)
  await using service = await startBenchService(data)
  const timings: (Timing | null)[] = []
  for (const question of questions()) {
    timings.push(question.distinct ? await measureAsync(runs, drawing(question, asked, service.ask)) : null)
  }
  return timings
}

function drawing(
  question: Question,
  asked: QuestionSubjects,
  ask: (url: string) => Promise<unknown>,
): () => () => Promise<unknown> {
  const random = randomOf(`http ${question.name}`)
  return () => {
    const { url } = question.draw(random, asked)
    return () => ask(url)
  }
}

function withReader<T>(data: string, use: (reader: LogReader, asked: QuestionSubjects) => T): T {
  const reader = openReader(data, null)
  try {
    const asked = reader.snapshot(subjectsOf)
    return use(reader, asked)
  } finally {
    reader.close()
  }
}
