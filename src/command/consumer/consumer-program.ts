import { Argument, type Command } from 'commander'
import type { EventFilter } from '../../client/filter.ts'
import type { Ms } from '../../protocol/moment.ts'
import { PAGE_LIMIT_MAX, SEQ_MAX } from '../../protocol/parameters.ts'
import { EVENT_TYPES, type EventType } from '../../protocol/rules.ts'
import { exportEvents } from './export.ts'
import { addGetCommands } from './get.ts'
import { kindWord, listOf, oneOf, optionOf, wholeBetween } from '../terminal/options.ts'
import { EVENT_FORMATS, type EventFormat } from './output-events.ts'
import { pull } from './pull.ts'
import { tail, type TailStart } from './tail.ts'
import { type MonthRange, monthRange, OPTION_TIME_FORMS, pastTimeOption, timeOption } from './time-options.ts'
import type { ExitCode, World } from '../terminal/world.ts'

type FilterOptions = Readonly<{
  type?: readonly EventType[]
  kind?: readonly string[]
  contestId?: readonly number[]
  nonzero?: true
}>

type TailOptions = FilterOptions &
  Readonly<{
    after?: number
    since?: Ms
    from?: Ms
    last?: number
    count?: number
    follow: boolean
    cursor?: string
    format?: EventFormat
  }>

type ExportOptions = FilterOptions &
  Readonly<{ from?: Ms; to?: Ms; after: number; format: Exclude<EventFormat, 'table'> }>

/** Adds the commands for readers of a log: `tail`, `get`, `pull`, `export`. */
export function addConsumerCommands(program: Command, world: World, done: (code: ExitCode) => void): void {
  addTail(program, world, done)
  addGetCommands(program, world, done)
  addPull(program, world, done)
  addExport(program, world, done)
}

const seq = wholeBetween(0, SEQ_MAX)

function addTail(program: Command, world: World, done: (code: ExitCode) => void): void {
  const option = optionOf('tail')
  const command = program
    .command('tail')
    .description('follow the log: a table on a terminal, lines as in the archive elsewhere')
    .argument('<url>', 'address of the service')
    .addOption(
      option('--after <seq>', 'begin after this seq').argParser(seq).conflicts(['since', 'from', 'last']),
    )
    .addOption(
      option('--since <time>', `begin at this moment: ${OPTION_TIME_FORMS}`)
        .argParser(pastTimeOption(world.now))
        .conflicts(['from', 'last']),
    )
    .addOption(
      option('--from <time>', 'the same as --since, as `export` has it')
        .argParser(pastTimeOption(world.now))
        .conflicts('last'),
    )
    .addOption(
      option('-n, --last <n>', 'begin with the last n events that match the filter').argParser(
        wholeBetween(0, PAGE_LIMIT_MAX),
      ),
    )
    .addOption(option('-f, --follow', 'wait for new events; the default').default(true))
    .addOption(option('--no-follow', 'end at the head that the log has at the start'))
    .addOption(option('--count <n>', 'end after this many events').argParser(wholeBetween(1, SEQ_MAX)))
    .addOption(
      option(
        '--cursor <file>',
        'file that keeps the cursor between runs; once it exists, it overrides --after, --since, --from and --last',
      ),
    )
    .addOption(
      option('--format <name>', 'format of events (default: table on a terminal, jsonl elsewhere)').choices(
        EVENT_FORMATS,
      ),
    )
  filterOptions(command, option)
    .addHelpText(
      'after',
      `
Examples:
  daybook tail https://data.example.org
  daybook tail https://data.example.org --since 24h --type payout --no-follow | jq -r .kots
  daybook tail https://data.example.org --cursor .daybook-cursor >> events.jsonl`,
    )
    .action(async (url: string, options: TailOptions) => {
      const { count = null, follow, cursor = null, format = null } = options
      const start = startOf(options)
      done(await tail({ url, start, filter: filterOf(options), count, follow, cursor, format }, world))
    })
}

function startOf({ after, from, since = from, last }: TailOptions): TailStart {
  if (after !== undefined) return { is: 'after', seq: after }
  if (since !== undefined) return { is: 'since', atMs: since }
  return last === undefined ? { is: 'head' } : { is: 'last', count: last }
}

function addPull(program: Command, world: World, done: (code: ExitCode) => void): void {
  program
    .command('pull')
    .description('download the files of months with their digests; continues after an interruption')
    .argument('<url>', 'address of the service')
    .addArgument(
      new Argument('[months]', 'such as 2026-09, 2026-01..2026-09 or 2026-01..')
        .argParser(monthRange)
        .default({ from: null, to: null }, 'every month'),
    )
    .addOption(
      optionOf('pull')(
        '--to <dir>',
        'folder for the files, with the paths of the service; required',
      ).makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      `
Example:
  daybook pull https://data.example.org 2026-01..2026-09 --to copy
  (cd copy/archive && sha256sum -c SHA256SUMS); daybook verify copy`,
    )
    .action(async (url: string, months: MonthRange, { to }: { to: string }) =>
      done(await pull({ url, months, to }, world)),
    )
}

function addExport(program: Command, world: World, done: (code: ExitCode) => void): void {
  const option = optionOf('export')
  const time = timeOption(world.now)
  const command = program
    .command('export')
    .description('print every event of a range as JSON lines or CSV, in few requests')
    .argument('<url>', 'address of the service')
    .addOption(option('--from <time>', `begin at this moment: ${OPTION_TIME_FORMS}`).argParser(time))
    .addOption(option('--to <time>', 'end before this moment (default: the head)').argParser(time))
    .addOption(option('--after <seq>', 'only events with a greater seq').argParser(seq).default(0))
    .addOption(option('--format <name>', 'format of events').choices(['jsonl', 'csv']).default('jsonl'))
  filterOptions(command, option)
    .addHelpText(
      'after',
      `
Example:
  daybook export https://data.example.org --from 2026-09 --to 2026-10 --format csv > september.csv`,
    )
    .action(async (url: string, options: ExportOptions) => {
      const { from = null, to = null, after, format } = options
      done(await exportEvents({ url, from, to, after, filter: filterOf(options), format }, world))
    })
}

function filterOptions(command: Command, option: ReturnType<typeof optionOf>): Command {
  return command
    .addOption(
      option('--type <types>', 'only events of these types, comma-separated').argParser(
        listOf(oneOf(EVENT_TYPES)),
      ),
    )
    .addOption(
      option('--kind <kinds>', 'only events of these kinds, comma-separated').argParser(listOf(kindWord)),
    )
    .addOption(
      option('--contest-id <ids>', 'only events of these contests, comma-separated').argParser(
        listOf(wholeBetween(1, SEQ_MAX)),
      ),
    )
    .addOption(option('--nonzero', 'only events with an amount other than zero'))
}

function filterOf({ type, kind, contestId, nonzero }: FilterOptions): EventFilter {
  return { type, kind, contestId, nonzero }
}
