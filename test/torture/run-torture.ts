import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Figures, RecordedCampaign } from './campaign.ts'
import type { CampaignRow, Tier } from './campaigns.ts'

/** One run of the campaigns. The same tier and seed name the same run. */
export type TortureSettings = Readonly<{
  campaigns: Readonly<Record<string, CampaignRow>>
  tier: Tier
  seed: string
  /** Names of the campaigns to run, even when the run has them already; all others when empty. */
  only: readonly string[]
  /** Folder of the records and of the campaigns' output. */
  folder: string
  /** Commit of the sources, which a report names. */
  commit: string
}>

type Outcome = Readonly<{
  name: string
  commit: string
  passed: boolean
  seconds: number
  size: number
  figures: Figures
}>

/** Time limit of one campaign. */
const CAMPAIGN_MS_MAX = 6 * 3_600_000
/** Time that a stopped campaign has to end its own processes. */
const STOP_MS_MAX = 30_000
/** Last characters of the output of a failed campaign that are told. */
const TOLD_CHARACTERS = 4_000

/** Runs the campaigns of a run that have not passed in it yet, and records each outcome. */
export async function runTorture(
  settings: TortureSettings,
  tell: (line: string) => void,
  stop: AbortSignal,
): Promise<Readonly<{ failed: readonly string[] }>> {
  const { campaigns, tier, seed, only, folder } = settings
  mkdirSync(folder, { recursive: true })
  tell(`torture of tier ${tier}, seed ${seed}: go on, or run it again, with --tier ${tier} --seed ${seed}`)
  const passed = outcomesOf(settings).filter((outcome) => outcome.passed)
  const failed: string[] = []
  for (const [name, row] of Object.entries(campaigns)) {
    const size = row.sizes[tier]
    if (size === 0 || (only.length > 0 && !only.includes(name))) continue
    // One of another size has not tried what this run asks for.
    if (only.length === 0 && passed.some((one) => one.name === name && one.size === size)) {
      tell(`${name}: passed before`)
      continue
    }
    const outcome = await runCampaign(settings, name, row, tell, stop)
    if (stop.aborted) break
    appendFileSync(recordPath(settings), `${JSON.stringify(outcome)}\n`)
    if (!outcome.passed) failed.push(name)
  }
  return { failed }
}

async function runCampaign(
  { tier, seed, folder, commit }: TortureSettings,
  name: string,
  row: CampaignRow,
  tell: (line: string) => void,
  stop: AbortSignal,
): Promise<Outcome> {
  const size = row.sizes[tier]
  const output = join(folder, `${tier}-${seed}-${name}.log`)
  const record = join(folder, `${tier}-${seed}-${name}.figures`)
  rmSync(record, { force: true })
  tell(`${name}: ${size} ${row.unit}, seed ${seed}, ${row.file}`)
  const begun = performance.now()
  // Inside `npm run test:all` the size is not set either. A test runner inside a test would report to the outer one.
  const { NODE_TEST_CONTEXT: _outer, ...own } = process.env
  const env = {
    // A campaign starts thousands of processes from the same sources: they share compiled code.
    NODE_COMPILE_CACHE: resolve(folder, 'compiled'),
    ...own,
    ...(tier !== 'quick' && { DAYBOOK_CAMPAIGN: String(size) }),
    DAYBOOK_SEED: seed,
    DAYBOOK_RECORD: record,
    CI: 'true',
  }
  const words = ['--test', '--test-reporter=spec', row.file]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const log = createWriteStream(output)
  let said = ''
  for (const from of [child.stdout, child.stderr])
    from.setEncoding('utf8').on('data', (text: string) => {
      log.write(text)
      said = `${said}${text}`.slice(-TOLD_CHARACTERS)
    })
  const end = AbortSignal.any([stop, AbortSignal.timeout(CAMPAIGN_MS_MAX)])
  const kill = (): void => {
    child.kill('SIGINT')
    setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX).unref()
  }
  end.addEventListener('abort', kill, { once: true })
  const [code] = (await once(child, 'close')) as [number | null]
  end.removeEventListener('abort', kill)
  log.end()
  await once(log, 'finish')
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  const recorded = (valuesIn(record) as readonly RecordedCampaign[]).find((one) => one.name === name)
  // A campaign that was skipped ends with 0 too, but records nothing.
  const passed = code === 0 && recorded !== undefined
  const figures = recorded?.figures ?? {}
  tell(`${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s ${JSON.stringify(figures)}`)
  if (!passed && !stop.aborted) tell(`${said}\nall of its output: ${output}`)
  return { name, commit, passed, seconds, size, figures }
}

const recordPath = ({ folder, tier, seed }: TortureSettings): string => join(folder, `${tier}-${seed}.jsonl`)

/** Values of a file with one a line; none without the file. */
function valuesIn(path: string): readonly unknown[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as unknown)
}

/** The last outcome of each campaign of a run, in the order of the campaigns. */
function outcomesOf(settings: TortureSettings): readonly Outcome[] {
  const outcomes = valuesIn(recordPath(settings)) as readonly Outcome[]
  const newest = new Map(outcomes.map((outcome) => [outcome.name, outcome]))
  return Object.keys(settings.campaigns).flatMap((name) => newest.get(name) ?? [])
}

/** A run as a table in Markdown: each campaign, its promise, and what it counted. */
export function reportOf(settings: TortureSettings): string {
  const rows = outcomesOf(settings).map(({ name, commit, passed, seconds, figures }) => {
    const counted = Object.entries(figures).map(
      ([figure, count]) => `${figure} ${count.toLocaleString('en')}`,
    )
    const promise = settings.campaigns[name]?.promise ?? ''
    const outcome = passed ? `held, in ${seconds} s, at ${commit}` : `**broken**, at ${commit}`
    return `| \`${name}\` | ${promise} | ${counted.join(', ')} | ${outcome} |`
  })
  return ['| Campaign | Promise | Counted | Outcome |', '|---|---|---|---|', ...rows, ''].join('\n')
}

/** The campaigns with their promises and sizes, as a table in Markdown. */
export function listOf(campaigns: TortureSettings['campaigns']): string {
  const rows = Object.entries(campaigns).map(([name, { file, sizes, unit, promise }]) => {
    const cells = [sizes.quick, sizes.hour, sizes.night].map((size) => size.toLocaleString('en'))
    return `| [\`${name}\`](../${file}) | ${promise} | ${cells.join(' | ')} | ${unit} |`
  })
  const head = ['| Campaign | Promise | Quick | Hour | Night | Unit |', '|---|---|---|---|---|---|']
  return [...head, ...rows, ''].join('\n')
}
