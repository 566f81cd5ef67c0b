import { closeSync, openSync, readSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import type { LogReader } from '../src/log/store/reader.ts'
import { storePath } from '../src/log/store/store.ts'
import { payouts } from '../src/project/answers/payouts.ts'
import { msOf } from '../src/protocol/moment.ts'
import { bigStore } from './stage/big-store.ts'
import { share } from './stage/measure.ts'
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

/** Measures how uncached answers slow down on a log a hundred times as long. */

const GOAL = 1.5
/** Uncounted first runs, so that the code is compiled. */
const WARM_UP = 20
/** Time limit of one question's runs, applied after `ENOUGH` runs. */
const BUDGET_MS = 2_000
const ENOUGH = 30
const READ_BYTES = 1 << 22

type Log = Readonly<{ reader: LogReader; asked: QuestionSubjects }>
/** Median time in ms and mean length in characters of one question on one log. */
type Cost = Readonly<{ time: number; chars: number }>

const settings = benchSettings(join(tmpdir(), 'daybook-bench'))
process.stdout.write(`${growth(settings)}\n`)

function growth({ store, events, runs }: BenchSettings): string {
  const small = openLog(store, SMALL_EVENTS)
  const large = openLog(store, events)
  const rows = [...questions(), payoutsPage()].map((question) => {
    const [before, after] = costsOf(question, [small, large], runs * 2)
    const longer = after.chars / before.chars
    const grown = after.time / before.time
    return [
      question.name,
      ms(before.time),
      ms(after.time),
      `${grown.toFixed(2)} ×`,
      `${longer.toFixed(2)} ×`,
      grown <= GOAL ? 'OK' : grown / longer <= GOAL ? 'as long' : 'OVER',
    ]
  })
  for (const { reader } of [small, large]) reader.close()
  return [
    `## Growth, from ${thousands(SMALL_EVENTS)} to ${thousands(events)} events`,
    '',
    `Milliseconds from a fresh snapshot to the answer's text, medians of seeded drawings that are the same on both logs and asked by turns. Both logs reach over the same three years, and both files were read once before, so that no disk is measured. Longer: the length of the answers, by which their cost grows with it ("as long": at most ${GOAL} times the cost for each byte). The goal is ${GOAL} times at most.`,
    '',
    table(['question', 'ms before', 'ms after', 'growth', 'longer', 'held'], rows),
    '',
  ].join('\n')
}

function openLog(store: string, events: number): Log {
  const data = bigStore(store, events, sayBuilding(events))
  readThrough(storePath(data))
  const reader = openReader(data, null)
  return { reader, asked: reader.snapshot(subjectsOf) }
}

/** Reads a file to its end, so that the system caches it if it has room. */
function readThrough(path: string): void {
  const file = openSync(path, 'r')
  const chunk = new Uint8Array(READ_BYTES)
  while (readSync(file, chunk) > 0) continue
  closeSync(file)
}

/** A page of the unpaid prizes, whose length has a limit. */
function payoutsPage(): Question {
  return {
    name: 'payouts, 100',
    goalMs: 20,
    distinct: false,
    draw: () => ({
      url: '/api/v1/payouts?limit=100',
      compute: ({ head, books }) => JSON.stringify(payouts(books, { limit: 100 }, head.atMs ?? msOf(0))),
    }),
  }
}

/** Asks both logs in turns, with the same seed. */
function costsOf(question: Question, [small, large]: readonly [Log, Log], runs: number): [Cost, Cost] {
  const turns = [small, large].map((log) => {
    return { log, random: randomOf(question.name), times: [] as number[], chars: 0 }
  })
  const endMs = performance.now() + BUDGET_MS
  for (let run = 0; run < runs + WARM_UP; run++) {
    if (run > ENOUGH + WARM_UP && performance.now() > endMs) break
    for (const turn of turns) {
      const drawn = question.draw(turn.random, turn.log.asked)
      const began = performance.now()
      const text = turn.log.reader.snapshot((snapshot) => drawn.compute(snapshot))
      if (run < WARM_UP) continue
      turn.times.push(performance.now() - began)
      turn.chars += text.length
    }
  }
  const [before, after] = turns.map(({ times, chars }) => {
    return { time: share(times, 0.5), chars: chars / times.length }
  })
  if (before === undefined || after === undefined) throw new Error('both logs were asked')
  return [before, after]
}
