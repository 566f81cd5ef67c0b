import type { Command } from 'commander'
import type { Readable } from 'node:stream'
import type { MainLines } from '../log-lines/log-lines.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import type { LogCarrier } from './log-carrier.ts'

/** Surroundings of every command. `done` receives the exit code of a command. */
export type ProgramWorld = Readonly<{
  world: World
  lines: MainLines
  input: Readable
  done: (code: ExitCode) => void
  /** Options that `main.ts` plugs in. */
  options: readonly ProgramOption[]
}>

/** Headings of the groups of commands in the help, by those who use them. The help has them in this order. */
export const COMMAND_GROUPS = {
  trial: 'To try Daybook:',
  readers: 'For players, analysts and developers:',
  auditors: 'For auditors, mirrors and witnesses:',
  operators: 'For operators:',
} as const

/** Commands that are loaded together, and the group of the help that has them. */
export type CommandRoom = Readonly<{
  group: keyof typeof COMMAND_GROUPS
  commands: readonly string[]
  add(program: Command, surroundings: ProgramWorld): Promise<unknown>
}>

/** Room of one command. */
export function room(
  group: CommandRoom['group'],
  command: string,
  load: (surroundings: ProgramWorld) => Promise<Command>,
): CommandRoom {
  return {
    group,
    commands: [command],
    async add(program, surroundings) {
      program.addCommand(await load(surroundings))
    },
  }
}

/** An option of the program, which `main.ts` plugs in. Without it, the program knows nothing of it. */
export type ProgramOption = Readonly<{
  /** Its commands. */
  rooms: readonly CommandRoom[]
  /** Loads its part of `serve`. */
  serve(): Promise<ServeOption>
}>

/** Part of `serve` that lets other machines carry the log. */
export type ServeOption = Readonly<{
  /** Adds its options to the command. */
  add(command: Command): Command
  /** The machines that the parsed options choose; null for none. Throws a CommandError. */
  carrierOf(options: object): LogCarrier | null
}>
