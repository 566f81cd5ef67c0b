import type { Command } from 'commander'
import { SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { type ShownForms, shownSettings } from './shown-settings.ts'
import { VERSION } from '../terminal/version.ts'
import type { World } from '../terminal/world.ts'
import type { FactName } from './facts.ts'
import type { LineOptions } from './line-options.ts'
import type { MainLines } from './log-lines.ts'
import { openPlainOutput } from './plain-output.ts'

/**
 * Chooses the log lines of a command that serves, without some facts. Returns its surroundings, whose plain text becomes
 * log lines too unless a terminal shows it.
 */
export function beginLines(
  { logLevel, logCallers }: LineOptions,
  without: readonly FactName[],
  { world, lines }: Readonly<{ world: World; lines: MainLines }>,
): World {
  lines.choose({ level: logLevel, callers: logCallers === true, without })
  return world.interactive ? world : { ...world, stderr: openPlainOutput(lines) }
}

/** Writes the lines of a start: versions, and the options in effect. `shown` has the forms of options of plugged rooms. */
export function sayStart(lines: MainLines, command: Command, shown: ShownForms = {}): void {
  const { node, sqlite = '' } = process.versions
  lines.say('starting', { version: VERSION, schema: SCHEMA_VERSION, node, sqlite })
  lines.say('options', { settings: shownSettings(command, shown) })
}
