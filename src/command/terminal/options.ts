import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { WORD } from '../../protocol/rules.ts'
import { sha256 } from '../../log/tree/signer.ts'
import { parseVkey } from '../../tlog/note.ts'
import { UsageError } from './command-error.ts'
import { parseNetworks } from '../../serve/allowance/caller.ts'

/**
 * Option that can also be set as `DAYBOOK_…`. An empty value is refused, because an empty path would mean the current
 * folder, and an empty host every address of the machine.
 */
export function option(flags: string, meaning: string): Option {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? ''
  const made = new Option(flags, meaning).env(`DAYBOOK_${name.replaceAll('-', '_').toUpperCase()}`)
  return made.required ? made.argParser(notEmpty) : made
}

function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('the value is empty')
  return text
}

/** Maker of options that can also be set as `DAYBOOK_COMMAND_…`, with the name of the command. */
export function optionOf(command: string): (flags: string, meaning: string) => Option {
  return (flags, meaning) => {
    const made = option(flags, meaning)
    return made.env(made.envVar?.replace('DAYBOOK_', `DAYBOOK_${command.toUpperCase()}_`) ?? '')
  }
}

/** Parser of an option's value as a whole number from `min` to `max`. */
export function wholeBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^(?!-0+$)-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`give a whole number from ${min} to ${max}`)
    return value
  }
}

/** Parses a kind, which the operator may choose. */
export function kindWord(text: string): string {
  if (!WORD.test(text)) {
    throw new InvalidArgumentError(
      'a kind has up to 32 lower-case letters, digits and _, and begins with a letter',
    )
  }
  return text
}

/** Parser of a comma-separated list, with the parser of one value. */
export function listOf<Value>(parse: (text: string) => Value): (text: string) => readonly Value[] {
  return (text) => text.split(',').map(parse)
}

/** Parser of one name out of `values`. */
export function oneOf<Value extends string>(values: readonly Value[]): (text: string) => Value {
  return (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined)
      throw new InvalidArgumentError(`give one or more of these, separated by commas: ${values.join(', ')}`)
    return found
  }
}

const RATE_MAX = 10_000

/** Parses `--rate-limit`: requests of one address in any 60 s, or `off`. */
export function rateLimit(text: string): number | 'off' {
  if (text === 'off') return text
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > RATE_MAX) {
    throw new InvalidArgumentError(`give a whole number from 1 to ${RATE_MAX}, or off`)
  }
  return Number(text)
}

/** Checks the networks of `--trust-proxy`, and returns their text, which each thread parses itself. */
export function networks(text: string): string {
  const parsed = parseNetworks(text)
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem.detail)
  return text
}

/** Checks `--origin`: the name of a log in signed statements, an address without scheme and final slash. */
export function originName(text: string): string {
  if (!/^[a-z0-9](?:[a-z0-9.:/_-]{0,126}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError('give a schemeless address such as data.example.org/log')
  }
  return text
}

/** The argument that names a service. */
export const URL_ARGUMENT: Argument = new Argument('<url>', 'address of the service')

/** Collects verifier keys. An environment variable has several separated by spaces, which no vkey contains. */
export function collectVkeys(keys: string, before: readonly string[]): readonly string[] {
  return [...before, ...keys.split(' ')]
}

/** Refuses a value of `--key` that is no verifier key. */
export function checkVkeys(keys: readonly string[]): void {
  for (const key of keys) {
    if (parseVkey(sha256, key) === undefined)
      throw new UsageError('--key is not a verifier key: give one of the form <origin>+<id>+<base64>')
  }
}

/** Meaning of `--to` of the commands that use the publish API. */
export const TO_URLS = 'address of the publish API; with several nodes, their addresses with commas'

/** Parses `--signing-key-file`: one path, or two separated by a comma. */
export function keyFiles(text: string): readonly string[] {
  return text.split(',').map((path) => notEmpty(path.trim()))
}

/** Default age from which a held draft is reported. */
export const OVERDUE_MINUTES = 60
const OVERDUE_MINUTES_MAX = 10_080

/** Option for the age from which a held draft is reported, for the service and for `doctor`. */
export function overdueOption(): Option {
  return option(
    '--finality-overdue <minutes>',
    'age from which a draft that still waits for the chain is reported',
  )
    .argParser(wholeBetween(1, OVERDUE_MINUTES_MAX))
    .default(OVERDUE_MINUTES)
}

const ON: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on'])
const OFF: ReadonlySet<string> = new Set(['', '0', 'false', 'no', 'off'])

/**
 * Removes variables from an environment that turn off an option without a value. Commander turns such an option on when
 * its variable exists, whatever the value is. Throws a CommandError for a value that is neither on nor off.
 */
export function settleSwitches(command: Command, environment: Record<string, string | undefined>): void {
  for (const each of command.options) {
    const { envVar = '' } = each
    const value = environment[envVar]
    if (value === undefined || !each.isBoolean()) continue
    const word = value.trim().toLowerCase()
    if (OFF.has(word)) delete environment[envVar]
    else if (!ON.has(word)) throw new UsageError(`${envVar}: give true or false`)
  }
  for (const below of command.commands) settleSwitches(below, environment)
}
