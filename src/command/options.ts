import { InvalidArgumentError, Option } from 'commander'
import { parseNetworks } from '../serve/caller-network.ts'

/** An option that can also be set as `DAYBOOK_…`. */
export function option(flags: string, meaning: string): Option {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? ''
  return new Option(flags, meaning).env(`DAYBOOK_${name.replaceAll('-', '_').toUpperCase()}`)
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
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`a whole number from ${min} to ${max}`)
    return value
  }
}

/** Reads names with a comma between them, each one of `values`. */
export function listOf<Value extends string>(values: readonly Value[]): (text: string) => readonly Value[] {
  return (text) =>
    text.split(',').map((name) => {
      const found = values.find((value) => value === name)
      if (found === undefined)
        throw new InvalidArgumentError(`with commas between them: ${values.join(', ')}`)
      return found
    })
}

/** Requests of one caller in any 60 s, or `off`. */
export function rateLimit(text: string): number | 'off' {
  return text === 'off' ? text : wholeBetween(1, 10_000)(text)
}

/** The networks of `--trust-proxy`, as they are written: each thread reads them anew. */
export function networks(text: string): string {
  const parsed = parseNetworks(text)
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem.detail)
  return text
}

export function redisUrl(text: string): string {
  if (!/^rediss?:\/\//.test(text)) throw new InvalidArgumentError('an address such as redis://127.0.0.1:6379')
  return text
}

/** An origin: what the log is called in signed statements, a schemeless address without a slash at its end. */
export function originName(text: string): string {
  if (!/^[a-z0-9](?:[a-z0-9.:/_-]{0,126}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError('a schemeless address such as data.example.org/log')
  }
  return text
}

/** One file of a signing key, or two with a comma between them. */
export function keyFiles(text: string): readonly string[] {
  return text.split(',').map((path) => path.trim())
}
