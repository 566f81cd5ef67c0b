import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startNode } from '../test/stage/node-process.ts'
import { installLighthouse } from './look/look-install.ts'
import { goalsMissed, lookTable } from './look/look-table.ts'
import { measurePage } from './look/look-measure.ts'
import { pagesToLook } from './look/look-pages.ts'
import { takeScreens } from './look/look-screens.ts'

/**
 * Prints what Lighthouse says of every page on a simulated phone, and exits with 1 when a page misses its goals.
 *
 *     npm run look
 *     npm run look -- --page /flows --page /patterns    # these pages only
 *     npm run look -- --url http://127.0.0.1:8080       # a running service instead of a new demonstration
 *     npm run look -- --report                          # exit code 0 in any case
 *     npm run look -- --screens DIR                     # pictures of the pages instead
 */

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    page: { type: 'string', multiple: true },
    report: { type: 'boolean', default: false },
    screens: { type: 'string' },
  },
})

await using service = values.url === undefined ? await startDemonstration() : alreadyRunning(values.url)
const paths = values.page ?? (await pagesToLook(service.url))
if (values.screens === undefined) process.exitCode = await look(service.url, paths)
else await takeScreens(service.url, paths, values.screens)

type Looked = AsyncDisposable & Readonly<{ url: string }>

/** The demonstration with its own data directory, which disposal removes. */
async function startDemonstration(): Promise<Looked> {
  process.stderr.write('starting the demonstration\n')
  const directory = mkdtempSync(join(tmpdir(), 'daybook-look-'))
  const node = await startNode(join(directory, 'data'), ['--chain', 'solana'], [], 'demo')
  return {
    url: node.url,
    async [Symbol.asyncDispose]() {
      await node.end('SIGTERM')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function alreadyRunning(url: string): Looked {
  return { url: url.replace(/\/$/, ''), [Symbol.asyncDispose]: () => Promise.resolve() }
}

/** Measures the pages one after another, prints the table, and returns the exit code. */
async function look(url: string, pages: readonly string[]): Promise<number> {
  const lighthouse = await installLighthouse()
  const rows = []
  for (const path of pages) {
    const row = await measurePage(lighthouse, url, path)
    process.stderr.write(`${path}: ${row.scores.join(' ')}\n`)
    rows.push(row)
  }
  process.stdout.write(`${lookTable(rows)}\n`)
  const missed = rows.flatMap(goalsMissed)
  for (const line of missed) process.stdout.write(`${line}\n`)
  return missed.length === 0 || values.report ? 0 : 1
}
