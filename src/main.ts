import { CommanderError } from 'commander'
import { pino } from 'pino'
import { openProgram } from './command/program.ts'
import type { ExitCode, World } from './command/world.ts'
import { CommandError, outsideReason } from './command/world.ts'
import { msOf } from './protocol/moment.ts'

/** The one place that reads the clock, the environment, the arguments and the signals of the process. */
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const world: World = {
  now: () => msOf(Date.now()),
  // One clock for all threads: allowances and streams compare its readings.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  random: Math.random,
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stderr.isTTY,
  drawn: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
  sharesPorts: process.platform === 'linux',
  hasFileModes: process.platform !== 'win32',
  stop: stop.signal,
}
const log = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ fd: 2, sync: true }),
)

const program = openProgram(world, log, process.stdin, (code) => {
  process.exitCode = code
})
for (const command of [program, ...program.commands]) command.exitOverride()

try {
  await program.parseAsync(process.argv)
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

function exitCodeOf(error: unknown): ExitCode {
  // Commander has said what is wrong; help and version end with its code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandError) {
    process.stderr.write(`daybook: ${error.message}\n`)
    return error.exitCode
  }
  const reason = outsideReason(error)
  if (reason !== undefined) {
    process.stderr.write(`daybook: ${reason}\n`)
    return 1
  }
  log.fatal({ err: error }, 'the command failed')
  return 1
}
