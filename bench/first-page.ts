import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { share } from './stage/measure.ts'
import { ms, table } from './stage/report.ts'

/** Measures the time from the start of the demonstration in a new clone to its first page, and at the next start. */

const ROOT = join(import.meta.dirname, '..')
/** Bundled scripts of the pages, which a new clone does not have. */
const CACHE = join(ROOT, 'node_modules', '.cache', 'daybook-islands')
const GOAL_MS = 5_000
const STARTS = 5
const PLACES = ['--port', '0', '--publish-port', '0', '--drain', '0']

const firsts: number[] = []
const nexts: number[] = []
for (let start = 0; start < STARTS; start++) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-first-'))
  rmSync(CACHE, { recursive: true, force: true })
  firsts.push(await pageMs(join(folder, 'data')))
  nexts.push(await pageMs(join(folder, 'data')))
  rmSync(folder, { recursive: true })
}
const rowOf = (name: string, times: readonly number[]): readonly string[] => [
  name,
  ms(share(times, 0.5)),
  ms(share(times, 1)),
  ms(GOAL_MS),
]
const rows = [rowOf('first start, in a new clone', firsts), rowOf('next start', nexts)]
process.stdout.write(
  [
    '## The first page of the demonstration',
    '',
    `Milliseconds from the start of the process, which \`npm start\` starts after about 300, until it says where to look, after its first page. ${STARTS} starts; load of the machine ${(loadavg()[0] ?? 0).toFixed(1)} at the end.`,
    '',
    table(['start', 'median', 'max', 'goal'], rows),
    '',
  ].join('\n'),
)

/** Milliseconds from the start of the demonstration on a data directory to the line that says where to look. */
async function pageMs(data: string): Promise<number> {
  const began = performance.now()
  const words = [join(ROOT, 'src', 'main.ts'), 'demo', '--data', data, ...PLACES]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(child, 'close')
  let took: number | null = null
  for await (const line of createInterface({ input: child.stderr })) {
    if (took !== null || !line.includes('Ctrl-C stops')) continue
    took = performance.now() - began
    child.kill('SIGTERM')
  }
  await closed
  if (took === null) throw new Error('the demonstration did not start')
  return took
}
