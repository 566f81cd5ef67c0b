import { rmSync } from 'node:fs'
import { share } from '../stage/measure.ts'
import { table, thousands } from '../stage/report.ts'
import type { BareClient } from './bare-client.ts'
import { type TableLog, untilServed } from './table-log.ts'

const NAME = 'late'

/** Joins a node with an empty directory, and starts it again with its directory, some times. Returns the table. */
export async function measureCatchUp(
  log: TableLog,
  bare: BareClient,
  head: number,
  rounds: number,
): Promise<string> {
  const rows = await log.last()
  const joined: number[] = []
  const started: number[] = []
  const read: number[] = []
  for (let round = 0; round < rounds; round++) {
    rmSync(log.dataOf(NAME), { recursive: true, force: true })
    joined.push(await secondsToServe(log, head))
    started.push(await secondsToServe(log, head))
    read.push(await bare.readAll())
  }
  const whole = share(joined, 0.5)
  const alone = share(started, 0.5)
  const line = (name: string, seconds: number): readonly string[] => [
    name,
    seconds.toFixed(2),
    thousands(Math.round(rows / seconds)),
    thousands(Math.round(head / seconds)),
    (seconds / share(read, 0.5)).toFixed(1),
  ]
  return [
    `**Catching up.** A node with an empty directory joins: ${thousands(rows)} rows with ${thousands(head)} events, those that were published above. Medians of ${rounds} rounds, from the start of the process until the node serves the newest event.`,
    '',
    table(
      ['', 'seconds', 'rows/s', 'events/s', '÷ bare'],
      [
        line('empty directory, with the start of its process', whole),
        line('without the time of a start that has nothing to read', whole - alone),
        line('bare client that reads the rows', share(read, 0.5)),
      ],
    ),
    '',
  ].join('\n')
}

async function secondsToServe(log: TableLog, head: number): Promise<number> {
  const began = performance.now()
  const node = await log.start(NAME)
  await untilServed(node.url, head)
  const seconds = (performance.now() - began) / 1_000
  await node.end('SIGTERM')
  return seconds
}
