import { InvalidArgumentError } from 'commander'
import { pacedMs } from '../../client/pace.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import { conformParts, findDaybook, type FoundDaybook } from '../../conform/conform.ts'
import type { ConformRun, ConformPart, SentenceVerdict } from '../../conform/part.ts'
import { openSender, RunEnd } from '../../conform/sender.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { readAddress } from '../terminal/log-address.ts'
import { listOf, optionOf, URL_ARGUMENT } from '../terminal/options.ts'
import { formatAge, print, printable } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { VERSION } from '../terminal/version.ts'

/** Most characters of a value of the service in a report. */
const SHOWN_CHARS_MAX = 300
/** Most checks of one sentence that are reported. */
const SHOWN_FAULTS_MAX = 3
/** Most things that the log lacks in one line. */
const SHOWN_NEEDS_MAX = 3

/** The command `conform`. */
export function conformCommand({ context }: ProgramContext): CommandSpec {
  const only = optionOf('conform')('--only <names>', 'scripts and walks to run, separated by commas')
  return {
    name: 'conform',
    description: 'check that a service answers as PROTOCOL.md says; verify checks that its history is true',
    arguments: [URL_ARGUMENT],
    options: [only.argParser(listOf(partName)).default([], 'all')],
    help: `Examples:
  daybook conform https://data.example.org
  daybook conform http://127.0.0.1:8080 --only events,stream,walk-events

It only reads: GET, HEAD and OPTIONS, and a few POSTs without a body that must be refused. It stays below the rate
limit, so a whole run takes about ten minutes of 60 requests each.`,
    run: (url: string, options: { only: readonly string[] }) => conform(url, options.only, context),
  }
}

/** Parses a word that may name a script or a walk. */
function partName(text: string): string {
  if (!/^[a-z-]+$/.test(text)) throw new InvalidArgumentError('a name has lower-case letters and hyphens')
  return text
}

/** Runs scripts and walks against a service, and prints a line for each one. */
async function conform(url: string, names: readonly string[], context: CommandContext): Promise<ExitCode> {
  const base = readAddress(url)
  const parts = chosenParts(names)
  const started = context.monotonicMs()
  const planned = parts.reduce((sum, { requests }) => sum + requests, 0)
  const progress = openProgress('asking', 'requests', context)
  const sender = openSender({
    base,
    headers: { 'User-Agent': `daybook/${VERSION}` },
    stop: context.stop,
    now: context.monotonicMs,
    sleep: SURROUNDINGS.sleep,
    random: context.random,
    onRequest: (requests) => progress.at(requests, Math.max(planned, requests)),
  })
  const verdicts: SentenceVerdict[] = []
  try {
    const found = await findDaybook(sender)
    progress.end()
    printNotice(context, planOf(found, base, planned))
    const run: ConformRun = { sender, log: found.log }
    const width = Math.max(...parts.map(({ name }) => name.length))
    for (const part of parts) {
      const own = await part.run(run)
      verdicts.push(...own)
      progress.end()
      await print(reportOf(part, own, width, context.drawn === true), context)
    }
  } catch (error) {
    if (context.stop.aborted)
      throw new CommandError('stopped; not every sentence was checked', { cause: error })
    if (error instanceof RunEnd) throw new CommandError(shown(error.message), { cause: error })
    throw error
  } finally {
    progress.end()
  }
  const { requests } = sender.counts()
  const spent = `${formatCount(requests, 'request')}, ${formatAge(context.monotonicMs() - started)}`
  await print(`${conclusionOf(verdicts)}; ${spent}\n`, context)
  return verdicts.some(isWrong) ? 1 : 0
}

/** The named scripts and walks; all without a name. Throws a UsageError for a name that is none. */
function chosenParts(names: readonly string[]): readonly ConformPart[] {
  const all = conformParts()
  const unknown = names.find((name) => !all.some((part) => part.name === name))
  if (unknown !== undefined)
    throw new UsageError(`--only: give some of these: ${all.map(({ name }) => name).join(', ')}`)
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name))
}

function planOf({ origin, version, log, rateLimit }: FoundDaybook, base: URL, planned: number): string {
  const pauses =
    rateLimit === null
      ? 'no rate limit'
      : `some ${formatAge(pacedMs(planned, rateLimit))} below the rate limit of ${rateLimit.requests} in ${formatAge(rateLimit.windowMs)}`
  return shown(
    `${base.host}: ${origin}, version ${version}, ${formatCount(log.events, 'event')}; about ${formatCount(planned, 'request')}, ${pauses}`,
  )
}

const isWrong = ({ is }: SentenceVerdict): boolean => is === 'broken' || is === 'not asked'

const MARKS = {
  plain: { held: 'ok   ', broken: 'WRONG', not: '-    ' },
  drawn: { held: '\u001b[32m✓\u001b[0m', broken: '\u001b[31m✗\u001b[0m', not: '–' },
} as const

/** Lines about a script or walk: the counts of its sentences, and each sentence that does not hold. */
function reportOf(
  { name, sentences }: ConformPart,
  verdicts: readonly SentenceVerdict[],
  width: number,
  isDrawn: boolean,
): string {
  const mark = verdicts.some(isWrong) ? 'broken' : verdicts.some(({ is }) => is === 'held') ? 'held' : 'not'
  const lines = [
    `${MARKS[isDrawn ? 'drawn' : 'plain'][mark]} ${name.padEnd(width)}  ${countsOf(verdicts)}${needsOf(verdicts)}`,
  ]
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict.is !== 'broken') continue
    lines.push(`      ${sentences[index]}`, `        ${shown(verdict.request)}`)
    for (const { wanted, was } of verdict.faults.slice(0, SHOWN_FAULTS_MAX))
      lines.push(`        wanted: ${shown(wanted)}`, `        was:    ${shown(was)}`)
  }
  return `${lines.join('\n')}\n`
}

/** Counts of the sentences that hold, do not, and do not apply to this log. */
function countsOf(verdicts: readonly SentenceVerdict[]): string {
  const count = (is: SentenceVerdict['is']): number => verdicts.filter((one) => one.is === is).length
  return [
    ...(count('held') > 0 ? [formatCount(count('held'), 'sentence holds', 'sentences hold')] : []),
    ...(count('broken') > 0 ? [formatCount(count('broken'), 'does not', 'do not')] : []),
    ...(count('not asked') > 0 ? [`${count('not asked')} not asked`] : []),
    ...(count('not applicable') > 0 ? [`${count('not applicable')} not applicable`] : []),
  ].join(', ')
}

/** List of what the log lacks for the sentences that do not apply. */
function needsOf(verdicts: readonly SentenceVerdict[]): string {
  const needs = [...new Set(verdicts.flatMap((one) => (one.is === 'not applicable' ? [one.needs] : [])))]
  if (needs.length === 0) return ''
  const more = needs.length > SHOWN_NEEDS_MAX ? [`${needs.length - SHOWN_NEEDS_MAX} more`] : []
  return `: needs ${[...needs.slice(0, SHOWN_NEEDS_MAX), ...more].join(', ')}`
}

function conclusionOf(verdicts: readonly SentenceVerdict[]): string {
  return `${verdicts.some(isWrong) ? 'WRONG' : 'it conforms'}: ${countsOf(verdicts)}`
}

/** Text of the service for a terminal, of bounded length. */
function shown(text: string): string {
  const cut = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
  return printable(cut)
}
