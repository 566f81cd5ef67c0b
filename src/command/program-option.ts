import type { Command } from 'commander'
import type { LogCarrier } from './service/log-carrier.ts'
import type { Room } from './program.ts'

/** An option of the program, which `main.ts` plugs in. Without it, the program knows nothing of it. */
export type ProgramOption = Readonly<{
  /** Its commands. */
  rooms: readonly Room[]
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
