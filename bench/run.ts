import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { HEADING } from './stage/report.ts'

/**
 * Runs the benches of docs/speed.md, each in a process that prints its rows.
 *
 *     npm run -s bench                    # four minutes, on a log of a million events
 *     npm run -s bench -- --only get      # one of them
 *     npm run -s bench -- --full          # on five million events; writes bench/RESULTS.md
 *
 * `--store DIR` keeps the large logs between runs, `--events N` is their length.
 */

/** A bench of an option may be gone with the option. */
const BENCHES = [
  'answers',
  'filtered',
  'start',
  'get',
  'stream',
  'fairness',
  'publish',
  'import',
  'parquet',
  'outbox',
  'cluster',
]

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    full: { type: 'boolean', default: false },
    store: { type: 'string' },
    events: { type: 'string' },
  },
})
const flags = [
  ...(values.full ? ['--full'] : []),
  ...(values.store === undefined ? [] : ['--store', values.store]),
  ...(values.events === undefined ? [] : ['--events', values.events]),
]
const pathOf = (name: string): string => join(import.meta.dirname, `${name}.ts`)
const chosen = BENCHES.filter((name) => existsSync(pathOf(name)) && name === (values.only ?? name))
if (chosen.length === 0) throw new Error(`--only takes one of ${BENCHES.join(', ')}`)

const machine = `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.versions.node}`
let printed = `# Results

${new Date().toISOString().slice(0, 10)}; ${machine}; load ${loadavg()[0]?.toFixed(1)} at the beginning. Made by
\`npm run -s bench${values.full ? ' -- --full' : ''}\`. Ratio: Daybook's figure through the peer's, the median of rounds in
turn.

${HEADING}`
process.stdout.write(printed)
for (const name of chosen) {
  const child = spawn(process.execPath, [pathOf(name), ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [rows, [code]] = await Promise.all([buffer(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`bench/${name}.ts ended with ${String(code)}`)
  process.stdout.write(rows)
  printed += rows.toString()
}
if (values.full && values.only === undefined) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), printed)
