import type { Command } from 'commander'
import { CommandError } from './command-context.ts'

const ON: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on'])
const OFF: ReadonlySet<string> = new Set(['', '0', 'false', 'no', 'off'])

/**
 * Removes from an environment the variables that turn an option without a value off. Commander takes such an option as on
 * when its variable exists, whatever the value is. Throws a CommandError for a value that is neither on nor off.
 */
export function settleSwitches(command: Command, environment: Record<string, string | undefined>): void {
  for (const option of command.options) {
    const { envVar = '' } = option
    const value = environment[envVar]
    if (value === undefined || !option.isBoolean()) continue
    const word = value.trim().toLowerCase()
    if (OFF.has(word)) delete environment[envVar]
    else if (!ON.has(word)) throw new CommandError(2, `${envVar}: give true or false`)
  }
  for (const below of command.commands) settleSwitches(below, environment)
}
