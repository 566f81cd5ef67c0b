import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { pino } from 'pino'
import { openProgram } from './command/program.ts'
import type { ExitCode, World } from './command/world.ts'
import { CommandError, outsideReason } from './command/world.ts'
import { msOf } from './protocol/moment.ts'

/** The one place that reads the clock, the environment, the arguments and the signals of the process. */
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

/** Whether whoever reads standard output has gone away, as `head` does: the command ends, and nothing has failed. */
let isUnread = false
process.stdout.on('error', (error) => {
  if (!('code' in error) || error.code !== 'EPIPE') throw error
  isUnread = true
  stop.abort()
})
// What is told beside the answers may go unread as well.
process.stderr.on('error', (error) => {
  if (!('code' in error) || error.code !== 'EPIPE') throw error
})

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
  if (isUnread) return 0
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
