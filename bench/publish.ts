import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectPublishers } from './publish/publish-load.ts'
import { startService } from './stage/processes.ts'
import { benchSettings, inTurns, type Measured, report } from './stage/report.ts'

/** Measures durable acknowledgements, and a bare loop in C that writes the same lines to a file on the same disk. */

const PUBLISHERS = 32
const BATCH = 100
const TURN_MS = 800
/** Published lines that the bare loop repeats. */
const LINES = 2_000

const { rounds } = benchSettings()
const directory = mkdtempSync(join(tmpdir(), 'daybook-bench-publish-'))
try {
  await using service = await startService(join(directory, 'data'), [])
  using publishers = await connectPublishers(service.node, PUBLISHERS)
  await publishers.publish(BATCH, TURN_MS)
  const floor = compiledFloor()
  const published = await fetch(`${service.node.url}/api/v1/events?limit=${LINES}`)
  const { events } = (await published.json()) as { events: readonly object[] }
  writeFileSync(join(directory, 'lines'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))

  const rows: Measured[] = []
  for (const drafts of [1, BATCH]) {
    const loop = (): number => {
      const file = join(directory, 'floor.out')
      const rate = execFileSync(floor ?? '', [file, join(directory, 'lines'), `${drafts}`, `${TURN_MS}`])
      rmSync(file)
      return Number(rate)
    }
    const own = (): Promise<number> => publishers.publish(drafts, TURN_MS)
    const [ours = [], theirs] = await inTurns(rounds, floor === undefined ? [own] : [own, loop], (turn) =>
      turn(),
    )
    rows.push({
      what: `durable acknowledgements, 32 publishers, ${drafts === 1 ? 'a draft' : `${drafts} drafts`} a request`,
      unit: 'drafts/s',
      peer: 'bare loop in C that syncs each write',
      ours,
      theirs,
      better: 'more',
    })
  }
  report(rows)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** Path of the compiled bare loop; undefined without a compiler. */
function compiledFloor(): string | undefined {
  const path = join(directory, 'floor')
  const source = join(import.meta.dirname, 'publish', 'publish-floor.c')
  return spawnSync('cc', ['-O2', '-o', path, source], { stdio: 'inherit' }).status === 0 ? path : undefined
}
