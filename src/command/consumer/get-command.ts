import { Argument, type Option } from 'commander'
import { piecesOf } from '../../client/body.ts'
import type { Daybook } from '../../client/daybook.ts'
import { endpointPath, type QueryValues } from '../../client/endpoint-query.ts'
import { type Endpoint, ENDPOINTS, isRaw, isTableEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { type Parameter, SEQ_MAX } from '../../protocol/parameters.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { EVENT_TYPES } from '../../protocol/rules.ts'
import { openClient, withCommandErrors } from '../terminal/client.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { kindWord, listOf, oneOf, optionOf, URL_ARGUMENT, wholeBetween } from '../terminal/options.ts'
import { print } from '../terminal/output.ts'
import { formatAnswer } from './output-answer.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { timeOption } from './event-options.ts'

/** The command `get`: one command for each endpoint, with its parameters as options. */
export function getCommand({ context }: ProgramContext): CommandSpec {
  // `tail` reads the stream, `pull` the files, `verify` the tiles.
  const endpoints = ENDPOINTS.filter(({ id }) => !isRaw(id))
  const last = endpoints.map(({ id }) => lastWord(dashed(id)))
  return {
    name: 'get',
    description: 'print one answer of the API: a table on a terminal, the unchanged JSON elsewhere',
    help: 'Example: daybook get summary https://data.example.org --at 2026-09',
    commands: endpoints.map((endpoint) => {
      const word = lastWord(dashed(endpoint.id))
      const isUnique = last.filter((one) => one === word).length === 1 && word !== dashed(endpoint.id)
      return endpointCommand(endpoint, isUnique ? word : undefined, context)
    }),
  }
}

/** Last word of a command's name, which also selects the command: `ledger` for `contest-ledger`. */
function lastWord(name: string): string {
  return name.slice(name.lastIndexOf('-') + 1)
}

/** Name of a command or option: `contest-id` for `contestId`. */
export function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function endpointCommand(
  { id, meaning, path, parameters }: Endpoint,
  alias: string | undefined,
  context: CommandContext,
): CommandSpec {
  const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const argument = new Argument(`<${name}>`, `the ${name} to ask for`)
    return name === 'type' ? argument.choices(EVENT_TYPES) : argument.argParser(wholeBetween(1, SEQ_MAX))
  })
  const formats = ['table', 'json', ...(isTableEndpoint(id) || id === 'events' ? ['csv'] : [])]
  return {
    name: dashed(id),
    alias,
    description: meaning,
    arguments: [URL_ARGUMENT, ...variables],
    options: [
      // Every command has its own --format.
      ...parameters.filter(({ name }) => name !== 'format').map((one) => parameterOption(one, context)),
      optionOf('get')('--format <name>', 'format of the answer (default: a table on a terminal)').choices(
        formats,
      ),
    ],
    // The options come after the arguments.
    run(url: string, ...given: unknown[]) {
      const [pathValue, options] = variables.length === 0 ? ['', given[0]] : given
      return get({ url, id, pathValue: String(pathValue), options: Object(options) }, context)
    },
  }
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
