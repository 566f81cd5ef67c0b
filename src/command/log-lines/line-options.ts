import type { Command } from 'commander'
import { option } from '../terminal/options.ts'
import { LINE_LEVELS, type LineLevel } from './fact-form.ts'

/** Options of log lines, as commander parses them. */
export type LineOptions = Readonly<{ logLevel: LineLevel; logCallers?: true }>

/** Adds the options of log lines. */
export function lineOptions(command: Command): Command {
  return command
    .addOption(
      option('--log-level <level>', 'log lines of this level and graver ones')
        .choices(LINE_LEVELS)
        .default('info'),
    )
    .addOption(option('--log-callers', 'name the network of a caller in log lines: /24 of IPv4, /48 of IPv6'))
}
