import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { FULL_EVENTS, machine, QUICK_EVENTS, SMALL_EVENTS } from './stage/report.ts'

/**
 * Runs the benches, each in a process that prints Markdown. The quick run takes some minutes and only prints. `--full`
 * takes much longer, uses a log of five million events, and writes `bench/RESULTS.md`.
 */

type Bench = Readonly<{ script: string; flags: (large: Large) => readonly string[]; when: 'always' | 'full' }>
type Large = Readonly<{ store: string; events: string; runs: string; full: boolean }>

const BENCHES: readonly Bench[] = [
  { script: 'answers.ts', flags: sized, when: 'always' },
  { script: 'start.ts', flags: sized, when: 'always' },
  { script: 'first-page.ts', flags: () => [], when: 'always' },
  { script: 'get.ts', flags: sized, when: 'always' },
  { script: 'stream.ts', flags: ({ full }) => (full ? ['--full'] : []), when: 'always' },
  {
    script: 'fairness.ts',
    flags: (large) => [...sized(large), ...(large.full ? ['--full'] : [])],
    when: 'always',
  },
  { script: 'questions-sql.ts', flags: sized, when: 'always' },
  { script: 'filtered-pages.ts', flags: sized, when: 'always' },
  { script: 'publish.ts', flags: () => [], when: 'always' },
  { script: 'publish-kinds.ts', flags: sized, when: 'always' },
  { script: 'store-costs.ts', flags: () => [], when: 'full' },
  { script: 'publish-beside.ts', flags: ({ full }) => (full ? [] : ['--rounds', '1']), when: 'always' },
  { script: 'outbox.ts', flags: () => [], when: 'always' },
  { script: 'cluster.ts', flags: ({ full }) => (full ? [] : ['--faults', '3']), when: 'always' },
  { script: 'tree.ts', flags: () => [], when: 'always' },
  { script: 'growth.ts', flags: grown, when: 'full' },
  { script: 'import.ts', flags: () => [], when: 'full' },
]

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    store: { type: 'string', default: join(tmpdir(), 'daybook-bench') },
    only: { type: 'string', default: '' },
  },
})
const large = {
  store: values.store,
  events: String(values.full ? FULL_EVENTS : QUICK_EVENTS),
  runs: values.full ? '200' : '40',
  full: values.full,
}
const db = new DatabaseSync(':memory:')
const sqlite = String(db.prepare('SELECT sqlite_version() AS version').get()?.['version'])
db.close()
const parts = [
  '# Results',
  '',
  `${new Date().toISOString().slice(0, 10)}; ${machine(sqlite)}. Made by \`npm run -s bench${values.full ? ' -- --full' : ''}\`.`,
  '',
]
process.stdout.write(`${parts.join('\n')}\n`)
for (const bench of BENCHES) {
  const path = new URL(bench.script, import.meta.url).pathname
  const chosen =
    values.only === '' ? bench.when === 'always' || values.full : bench.script === `${values.only}.ts`
  if (!chosen || !existsSync(path)) continue
  const printed = sectionOf(bench.script, await run(path, bench.flags(large)))
  process.stdout.write(`${printed}\n`)
  parts.push(printed)
}
if (values.full && values.only === '') writeFileSync(new URL('RESULTS.md', import.meta.url), parts.join('\n'))

function sized({ store, events, runs }: Large): readonly string[] {
  return ['--store', store, '--events', events, '--runs', runs]
}

/** The output of a bench as a section. Plain lines become one. */
function sectionOf(script: string, printed: string): string {
  if (printed.startsWith('#')) return printed
  return [`## ${script}`, '', '```', printed.trimEnd(), '```', ''].join('\n')
}

/** The large log of the growth bench is a hundred times as long as the small one. */
function grown({ store }: Large): readonly string[] {
  return ['--store', store, '--events', String(100 * SMALL_EVENTS), '--runs', '60']
}

/** The output of a bench; its progress goes to standard error. Throws when it fails. */
async function run(path: string, flags: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [path, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code]] = await Promise.all([buffer(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`${path} ended with ${String(code)}`)
  return printed.toString()
}
