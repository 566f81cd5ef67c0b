import { InvalidArgumentError, Option } from 'commander'
import { WORD } from '../../protocol/catalogue.ts'
import { parseNetworks } from '../../serve/allowance/caller-network.ts'

/**
 * An option that can also be set as `DAYBOOK_…`. An empty value is none: an empty path would be the folder that the
 * command is called in, and an empty host every address of the machine.
 */
export function option(flags: string, meaning: string): Option {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? ''
  const made = new Option(flags, meaning).env(`DAYBOOK_${name.replaceAll('-', '_').toUpperCase()}`)
  return made.required ? made.argParser(filled) : made
}

function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('it is empty')
  return text
}

/** Options of one command: each can also be set as `DAYBOOK_…` with the command's name before its own. */
export function optionOf(command: string): (flags: string, meaning: string) => Option {
  return (flags, meaning) => {
    const made = option(flags, meaning)
    return made.env(made.envVar?.replace('DAYBOOK_', `DAYBOOK_${command.toUpperCase()}_`) ?? '')
  }
}

/** Reads an option's value as a whole number within bounds. */
export function wholeBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`give a whole number from ${min} to ${max}`)
    return value
  }
}

/** Reads a kind: the operator's own word, in the form that all of them have. */
export function kindWord(text: string): string {
  if (!WORD.test(text)) {
    throw new InvalidArgumentError('a kind has up to 32 lower-case letters, digits and _, a letter first')
  }
  return text
}

/** Reads names with a comma between them, each one of `values`. */
export function listOf<Value extends string>(values: readonly Value[]): (text: string) => readonly Value[] {
  return (text) =>
    text.split(',').map((name) => {
      const found = values.find((value) => value === name)
      if (found === undefined)
        throw new InvalidArgumentError(`give one or more, with commas between them, of ${values.join(', ')}`)
      return found
    })
}

const RATE_MAX = 10_000

/** Requests of one caller in any 60 s, or `off`. */
export function rateLimit(text: string): number | 'off' {
  if (text === 'off') return text
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > RATE_MAX) {
    throw new InvalidArgumentError(`give a whole number from 1 to ${RATE_MAX}, or off`)
  }
  return Number(text)
}

/** The networks of `--trust-proxy`, as they are written: each thread reads them anew. */
export function networks(text: string): string {
  const parsed = parseNetworks(text)
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem.detail)
  return text
}

export function redisUrl(text: string): string {
  if (!/^rediss?:\/\//.test(text))
    throw new InvalidArgumentError('give an address such as redis://127.0.0.1:6379')
  return text
}

/** An origin: what the log is called in signed statements, a schemeless address without a slash at its end. */
export function originName(text: string): string {
  if (!/^[a-z0-9](?:[a-z0-9.:/_-]{0,126}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError('give a schemeless address such as data.example.org/log')
  }
  return text
}

/** One file of a signing key, or two with a comma between them. */
export function keyFiles(text: string): readonly string[] {
  return text.split(',').map((path) => filled(path.trim()))
}
