import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../stage/places.ts'
import { useTemporaryFolder } from '../processes/temporary-folder.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { listOf, reportOf, runTorture, type TortureSettings } from './run-torture.ts'

/**
 * `npm run torture`: runs the campaigns one after another, prints their seed and what they counted, and ends with a
 * table in Markdown. The exit code is 1 when one failed. A run that was broken off goes on with its `--seed`.
 */
const { values } = parseArgs({
  options: {
    tier: { type: 'string', default: 'quick' },
    seed: { type: 'string', default: randomUUID().slice(0, 8) },
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
})
const { tier, seed, only } = values
if (tier !== 'quick' && tier !== 'hour' && tier !== 'night')
  throw new Error('--tier takes quick, hour or night')
/** Those of the core, and those that options of the log bring in files of this name. */
const campaigns = { ...CAMPAIGNS }
for (const path of globSync('test/**/campaign-rows.ts', { cwd: ROOT })) {
  const rows = (await import(join(ROOT, path))) as { CAMPAIGNS: typeof CAMPAIGNS }
  Object.assign(campaigns, rows.CAMPAIGNS)
}
for (const name of only) if (!Object.hasOwn(campaigns, name)) throw new Error('--only takes a name of --list')

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
const git = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' })
const commit = git.status === 0 ? git.stdout.trim() : 'an unknown commit'
const settings: TortureSettings = {
  campaigns,
  tier,
  seed,
  only,
  folder: '.daybook-torture',
  commit,
}
if (values.list) process.stdout.write(listOf(campaigns))
else if (values.report) process.stdout.write(reportOf(settings))
else {
  useTemporaryFolder()
  const tell = (line: string): void => void process.stdout.write(`${line}\n`)
  const { failed } = await runTorture(settings, tell, stop.signal)
  process.stdout.write(`\n${reportOf(settings)}`)
  process.exitCode = failed.length > 0 || stop.signal.aborted ? 1 : 0
}
