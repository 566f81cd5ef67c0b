import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { pino } from 'pino'
import { systemReason } from './command/terminal/given-paths.ts'
import { openProgram } from './command/program.ts'
import type { ExitCode, World } from './command/terminal/world.ts'
import { CommandError, outsideReason } from './command/terminal/world.ts'
import { msOf } from './protocol/moment.ts'

/** The one place that reads the clock, the environment, the arguments and the signals of the process. */
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

/**
 * What became of standard output: whoever reads it has gone away, as `head` does, which is no failure, or it cannot be
 * written, as on a full disk. Both end the command.
 */
let output: 'taken' | 'unread' | 'lost' = 'taken'
process.stdout.on('error', (error) => {
  if (output === 'taken') {
    output = 'code' in error && error.code === 'EPIPE' ? 'unread' : 'lost'
    if (output === 'lost')
      process.stderr.write(`daybook: standard output cannot be written: ${systemReason(error)}\n`)
  }
  stop.abort()
})
// The last of it may be lost after the command has ended well.
process.once('exit', () => {
  if (output === 'lost' || failed) process.exitCode = 1
})
// What is told beside the answers may go unread as well, and there is nobody to be told of it.
process.stderr.on('error', () => undefined)

const world: World = {
  now: () => msOf(Date.now()),
  // One clock for all threads: allowances and streams compare its readings.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  random: Math.random,
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stderr.isTTY,
  drawn: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
  columns: () => (process.stdout.isTTY ? process.stdout.columns : null),
  openFilesMax,
  sharesPorts: process.platform === 'linux',
  hasFileModes: process.platform !== 'win32',
  stop: stop.signal,
}
const log = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ fd: 2, sync: true }),
)

/** A failure that nothing waited for ends the command in good order: a service drains first. */
let failed = false
process.on('unhandledRejection', (error) => {
  failed = true
  log.fatal({ err: error }, 'a failure that nothing waited for')
  stop.abort()
})

const program = openProgram(world, log, process.stdin, (code) => {
  process.exitCode = code
})
throwMistakes(program)

try {
  await program.parseAsync(process.argv)
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

function throwMistakes(command: Command): void {
  command.exitOverride()
  for (const below of command.commands) throwMistakes(below)
}

/** The limit that a process of this user starts with, as Node has raised it. */
function openFilesMax(): number | null {
  // Looking up the names of peers takes seconds, and nobody asked.
  Object.assign(process.report, { excludeNetwork: true })
  const report: Readonly<{ userLimits?: Readonly<{ open_files?: Readonly<{ soft?: unknown }> }> }> = Object(
    process.report.getReport(),
  )
  const soft = report.userLimits?.open_files?.soft
  if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER
  return typeof soft === 'number' ? soft : null
}

function exitCodeOf(error: unknown): ExitCode {
  // What follows from it is not told again.
  if (output !== 'taken') return output === 'unread' ? 0 : 1
  // Commander has said what is wrong; help and version end with its code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandError) {
    process.stderr.write(`daybook: ${error.message}\n`)
    return error.exitCode
  }
  const reason = stop.signal.aborted && error === stop.signal.reason ? 'stopped' : outsideReason(error)
  if (reason !== undefined) {
    process.stderr.write(`daybook: ${reason}\n`)
    return 1
  }
  log.fatal({ err: error }, 'the command failed')
  return 1
}
