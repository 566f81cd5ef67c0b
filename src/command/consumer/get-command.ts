import { Argument, Command, type Option } from 'commander'
import { piecesOf } from '../../client/body.ts'
import type { Daybook } from '../../client/daybook.ts'
import { endpointPath, type QueryValues } from '../../client/endpoint-query.ts'
import { type Endpoint, ENDPOINTS, isRaw, isTableEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { type Parameter, SEQ_MAX } from '../../protocol/parameters.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { EVENT_TYPES } from '../../protocol/rules.ts'
import { withCommandErrors, openClient } from '../terminal/client.ts'
import { type ExitCode, printNotice, type CommandContext } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { kindWord, listOf, oneOf, optionOf, wholeBetween } from '../terminal/options.ts'
import { print } from '../terminal/output.ts'
import { formatAnswer } from './output-answer.ts'
import { timeOption } from './time-options.ts'

/** The command `get`: one command for each endpoint, with its parameters as options. */
export function getCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const parent = new Command('get')
    .description('print one answer of the API: a table on a terminal, the unchanged JSON elsewhere')
    .addHelpText('after', '\nExample: daybook get summary https://data.example.org --at 2026-09')
  for (const endpoint of ENDPOINTS) {
    // `tail` reads the stream, `pull` the files, `verify` the tiles.
    if (!isRaw(endpoint.id)) parent.addCommand(endpointCommand(endpoint, context, done))
  }
  const names = parent.commands.map((command) => command.name())
  for (const command of parent.commands) {
    const last = lastWord(command.name())
    if (names.filter((name) => lastWord(name) === last).length === 1 && last !== command.name())
      command.alias(last)
  }
  return parent
}

/** Word by which a reader may ask for a command too: `ledger` for `contest-ledger`. */
function lastWord(name: string): string {
  return name.slice(name.lastIndexOf('-') + 1)
}

/** Name of a command or option: `contest-id` for `contestId`. */
export function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function endpointCommand(
  { id, meaning, path, parameters }: Endpoint,
  context: CommandContext,
  done: (code: ExitCode) => void,
): Command {
  const command = new Command(dashed(id)).description(meaning).argument('<url>', 'address of the service')
  const variable = /\{(\w+)\}/.exec(path)?.[1]
  if (variable !== undefined) {
    const argument = new Argument(`<${variable}>`, `the ${variable} to ask for`)
    const isWord = variable === 'type'
    command.addArgument(isWord ? argument.choices(EVENT_TYPES) : argument.argParser(wholeBetween(1, SEQ_MAX)))
  }
  for (const parameter of parameters) {
    // Every command has its own --format.
    if (parameter.name !== 'format') command.addOption(parameterOption(parameter, context))
  }
  command.addOption(
    optionOf('get')('--format <name>', 'format of the answer (default: a table on a terminal)').choices([
      'table',
      'json',
      ...(isTableEndpoint(id) || id === 'events' ? ['csv'] : []),
    ]),
  )
  // Commander passes the options last; without a path variable they are the second argument.
  return command.action(async (url: string, second: unknown, third: unknown) => {
    const [value, options] = variable === undefined ? ['', second] : [second, third]
    done(await get({ url, id, pathValue: String(value), options: Object(options) }, context))
  })
}

/** Option for a parameter of the API, with the same limits. */
function parameterOption({ name, form, absent, meaning }: Parameter, context: CommandContext): Option {
  const text = `${meaning} (default: ${absent})`
  const flag = `--${dashed(name)}`
  const made = optionOf('get')
  switch (form.is) {
    case 'time':
      return made(`${flag} <time>`, text).argParser(timeOption(context.now))
    case 'integer':
      return made(`${flag} <n>`, text).argParser(wholeBetween(form.min, form.max))
    case 'word':
      return made(`${flag} <word>`, text)
    case 'words':
      return made(`${flag} <words>`, text).argParser(listOf(kindWord))
    case 'integers':
      return made(`${flag} <numbers>`, text).argParser(listOf(wholeBetween(form.min, form.max)))
    case 'tx':
      return made(`${flag} <tx>`, text)
    case 'text':
      return made(`${flag} <text>`, text)
    case 'flag':
      return made(flag, meaning.replace(/^1: /, ''))
    case 'one-of':
      return made(`${flag} <name>`, text).choices(form.values)
    case 'list-of':
      return made(`${flag} <names>`, text).argParser(listOf(oneOf(form.values)))
  }
}

type GetSettings = Readonly<{
  url: string
  id: EndpointId
  /** Value of the variable in the path; empty where the path has none. */
  pathValue: string
  options: QueryValues & Readonly<{ format?: string }>
}>

/** Prints one answer: its unchanged bytes, or a table. */
async function get({ url, id, pathValue, options }: GetSettings, context: CommandContext): Promise<ExitCode> {
  const daybook = openClient(url, context)
  const { format, ...query } = options
  const asked = format === 'csv' ? { ...query, format } : query
  const columns = context.columns?.() ?? null
  const path = endpointPath(id, pathValue, asked)
  try {
    if (id === 'events' && format === 'csv') return await printEventsCsv(daybook, path, context)
    const answer = await withCommandErrors(() => daybook.ask.get(path, { signal: context.stop }))
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    const isTable = isJson && (format === undefined ? columns !== null : format === 'table')
    const text = isTable ? formatAnswer(answer.json(), context.drawn === true) : answer.bytes()
    const isEnded = isTable || answer.bytes().at(-1) === NEWLINE
    await print(isEnded ? text : Buffer.concat([answer.bytes(), Buffer.of(NEWLINE)]), context)
    tellNext(isJson ? nextIn(answer.json()) : nextLink(answer.headers), context)
    return 0
  } catch (error) {
    if (context.stop.aborted) throw new CommandError('stopped', { cause: error })
    throw error
  }
}

/** Prints the CSV of events as it arrives, in constant memory. Throws when it breaks off before its end. */
async function printEventsCsv(daybook: Daybook, path: string, context: CommandContext): Promise<ExitCode> {
  const { headers, stream } = await withCommandErrors(() => daybook.ask.open(path, { signal: context.stop }))
  try {
    for await (const piece of piecesOf(stream)) if (!(await print(piece, context))) return 0
  } catch (cause) {
    const message = 'the CSV is incomplete, because the connection broke off; repeat the command'
    throw new CommandError(message, { cause })
  }
  tellNext(nextLink(headers), context)
  return 0
}

/** Names the option of the next page, if there is one. */
function tellNext(next: unknown, context: CommandContext): void {
  if (typeof next === 'string') printNotice(context, `there is more: ${nextOption(next)}`)
}

const NEWLINE = 0x0a

/** Path of the next page; null or undefined when there is none. */
function nextIn(answer: unknown): unknown {
  const next: unknown = Reflect.get(Object(answer), 'next')
  return next ?? Reflect.get(Object(Reflect.get(Object(answer), 'page')), 'next')
}

/** Address of the next page of a CSV; undefined when there is none. */
function nextLink(headers: Headers): string | undefined {
  return /<([^<>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
}

/** Option that asks for the next page: `--after 200`. */
function nextOption(next: string): string {
  const query = new URLSearchParams(next.split('?')[1] ?? '')
  const [name, cursor] = query.has('before') ? ['before', query.get('before')] : ['after', query.get('after')]
  return `--${name} ${cursor ?? ''}`
}
