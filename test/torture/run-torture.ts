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

/** Outcome of a campaign in a run, or of a part of one. */
type Outcome = Readonly<{
  name: string
  /** Such as `2/5`; absent when a campaign ran as a whole. */
  part?: string
  /** Commits on which it ran. */
  commit: string
  passed: boolean
  seconds: number
  size: number
  figures: Figures
}>

/** Share of a campaign that one process runs. */
type Piece = Readonly<{ name: string; row: CampaignRow; seed: string; size: number; part?: string }>

/** Time limit of one campaign. */
const CAMPAIGN_MS_MAX = 4 * 3_600_000
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
  const wanted = Object.keys(campaigns).filter((name) => only.length === 0 || only.includes(name))
  const failed: string[] = []
  for (const name of wanted) {
    if (stop.aborted) break
    const row = campaigns[name]
    if (row === undefined || row.sizes[tier] === 0) continue
    // One of another size has not tried what this run asks for.
    if (only.length === 0 && passed.some((one) => one.name === name && one.size === row.sizes[tier])) {
      tell(`${name}: passed before`)
      continue
    }
    const outcome = await runCampaign(settings, name, row, tell, stop)
    if (outcome === null) break
    appendFileSync(recordPath(settings), `${JSON.stringify(outcome)}\n`)
    if (!outcome.passed) failed.push(name)
  }
  return { failed }
}

/** Runs a campaign, or those of its parts that have not passed yet. Null when it was stopped. */
async function runCampaign(
  settings: TortureSettings,
  name: string,
  row: CampaignRow,
  tell: (line: string) => void,
  stop: AbortSignal,
): Promise<Outcome | null> {
  const { tier, seed } = settings
  const size = row.sizes[tier]
  const count = Math.ceil(size / (row.part ?? size))
  if (count === 1) {
    const outcome = await runPiece(settings, { name, row, seed, size }, tell, stop)
    return stop.aborted ? null : outcome
  }
  const path = partsPath(settings, name)
  // Parts of another division have other cases.
  const parts = outcomesIn(path).filter(({ passed, part }) => passed && part?.endsWith(`/${count}`) === true)
  for (let part = 1; part <= count; part += 1) {
    const partSize = Math.floor((size * part) / count) - Math.floor((size * (part - 1)) / count)
    const share = `${part}/${count}`
    if (parts.some((one) => one.part === share && one.size === partSize)) {
      tell(`${name}: part ${part} of ${count} passed before`)
      continue
    }
    const piece = { name, row, seed: `${seed}-${part}`, size: partSize, part: share }
    const outcome = await runPiece(settings, piece, tell, stop)
    if (stop.aborted) return null
    if (!outcome.passed) return outcome
    appendFileSync(path, `${JSON.stringify({ ...outcome, part: share })}\n`)
    parts.push({ ...outcome, part: share })
  }
  // A campaign that is named again runs all its parts again.
  rmSync(path)
  return { name, passed: true, size, ...sumOf(parts) }
}

function sumOf(parts: readonly Outcome[]): Pick<Outcome, 'commit' | 'seconds' | 'figures'> {
  const figures: Record<string, number> = {}
  for (const part of parts)
    for (const [figure, count] of Object.entries(part.figures))
      figures[figure] = (figures[figure] ?? 0) + count
  const commit = [...new Set(parts.map((part) => part.commit))].join(', ')
  return { commit, seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0), figures }
}

async function runPiece(
  { tier, folder, commit }: TortureSettings,
  { name, row, seed, size, part = '1/1' }: Piece,
  tell: (line: string) => void,
  stop: AbortSignal,
): Promise<Outcome> {
  const output = join(folder, `${tier}-${seed}-${name}.log`)
  const record = join(folder, `${tier}-${seed}-${name}.figures`)
  rmSync(record, { force: true })
  tell(`${name}: ${size} ${row.unit}, seed ${seed}, ${row.file}`)
  const begun = performance.now()
  // Inside `npm run test:all` the size is not set either. A test runner inside a test would report to the outer one.
  const { NODE_TEST_CONTEXT: _outer, ...own } = process.env
  // A campaign starts thousands of processes from the same sources: they share compiled code.
  const compiled = resolve(folder, 'compiled')
  const sized = tier === 'quick' ? {} : { DAYBOOK_CAMPAIGN: String(size) }
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', row.file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      NODE_COMPILE_CACHE: compiled,
      ...own,
      ...sized,
      DAYBOOK_SEED: seed,
      DAYBOOK_PART: part,
      DAYBOOK_RECORD: record,
      CI: 'true',
    },
  })
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
  const recorded = recordedIn(record, name)
  // A campaign that was skipped ends with 0 too, but records nothing.
  const passed = code === 0 && recorded !== undefined
  const figures = recorded?.figures ?? {}
  tell(`${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s ${JSON.stringify(figures)}`)
  if (!passed && !stop.aborted) tell(`${said}\nall of its output: ${output}`)
  return { name, commit, passed, seconds, size, figures }
}

function recordedIn(path: string, name: string): RecordedCampaign | undefined {
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as RecordedCampaign).find((one) => one.name === name)
}

const recordPath = ({ folder, tier, seed }: TortureSettings): string => join(folder, `${tier}-${seed}.jsonl`)

/** Record of the parts of a campaign that have passed, until all have. */
const partsPath = ({ folder, tier, seed }: TortureSettings, name: string): string =>
  join(folder, `${tier}-${seed}-${name}.parts`)

function outcomesIn(path: string): readonly Outcome[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Outcome)
}

/** The last outcome of each campaign of a run, in the order of the campaigns. */
function outcomesOf(settings: TortureSettings): readonly Outcome[] {
  const newest = new Map(outcomesIn(recordPath(settings)).map((outcome) => [outcome.name, outcome]))
  return Object.keys(settings.campaigns).flatMap((name) => newest.get(name) ?? [])
}

/** A run as a table in Markdown: each campaign, its promise, and what it counted. */
export function reportOf(settings: TortureSettings): string {
  const rows = outcomesOf(settings).map(({ name, commit, passed, seconds, figures }) => {
    const counted = Object.entries(figures).map(
      ([figure, count]) => `${figure} ${count.toLocaleString('en')}`,
    )
    const promise = settings.campaigns[name]?.promise ?? ''
    const outcome = passed ? `held, in ${durationOf(seconds)}, at ${commit}` : `**broken**, at ${commit}`
    return `| \`${name}\` | ${promise} | ${counted.join(', ')} | ${outcome} |`
  })
  return ['| Campaign | Promise | Counted | Outcome |', '|---|---|---|---|', ...rows, ''].join('\n')
}

function durationOf(seconds: number): string {
  return seconds < 60
    ? `${Math.round(seconds)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
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
