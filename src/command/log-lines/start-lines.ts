import { Writable } from 'node:stream'
import type { Command, Option } from 'commander'
import { SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { option } from '../terminal/options.ts'
import { VERSION } from '../terminal/version.ts'
import { LINE_LEVELS, type LineLevel } from './facts.ts'
import type { LogLines } from './log-lines.ts'

/** Options of log lines, as commander parses them. */
export type LineOptions = Readonly<{ logLevel: LineLevel; logCallers?: true }>

/** Options of log lines. */
export const LINE_OPTIONS: readonly Option[] = [
  option('--log-level <level>', 'log lines of this level and graver ones')
    .choices(LINE_LEVELS)
    .default('info'),
  option('--log-callers', 'name the network of a caller in log lines: /24 of IPv4, /48 of IPv6'),
]

/**
 * Chooses the log lines of a command that serves. Returns its context, whose plain text also becomes log lines unless a
 * terminal shows it.
 */
export function beginLines(
  { logLevel, logCallers }: LineOptions,
  { context, lines }: Readonly<{ context: CommandContext; lines: LogLines }>,
): CommandContext {
  lines.choose({ level: logLevel, callers: logCallers === true })
  return context.interactive ? context : { ...context, stderr: openPlainOutput(lines) }
}

/** Opens an output that turns plain text into log lines, so that a file of log lines has nothing else. */
export function openPlainOutput(lines: LogLines): Writable {
  let rest = ''
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() ?? ''
      for (const words of parts) if (words !== '') lines.say('note', { words })
      done()
    },
    final(done) {
      if (rest !== '') lines.say('note', { words: rest })
      done()
    },
  })
}

/** Writes the lines of a start: versions, and the options in effect. */
export function sayStart(lines: LogLines, command: Command): void {
  const { node, sqlite = '' } = process.versions
  lines.say('starting', { version: VERSION, schema: SCHEMA_VERSION, node, sqlite })
  lines.say('options', { settings: shownSettings(command) })
}

/** Options whose text is shown unchanged. Numbers and switches are always shown. */
const SHOWN: ReadonlySet<string> = new Set(
  [
    'balances chain contact data host key-file licence log-level name ops-host origin origin-url public-url',
    'publish-host publish-token-file rate-limit signing-key-file site-name token trust-proxy',
  ].flatMap((names) => names.split(' ')),
)

/**
 * Options of a command that are in effect, by name. `given` replaces a value that may contain a secret or an account.
 */
export function shownSettings(command: Command): Readonly<Record<string, string | number | boolean>> {
  const shown: Record<string, string | number | boolean> = {}
  for (const one of command.options) {
    const name = (one.long ?? '').replace(/^--/, '')
    const value: unknown = command.getOptionValue(one.attributeName())
    const text = SHOWN.has(name) ? String(value) : 'given'
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    shown[name] = typeof value === 'number' || typeof value === 'boolean' ? value : text
  }
  return shown
}
