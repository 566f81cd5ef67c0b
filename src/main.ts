import { type Command, CommanderError } from 'commander'
import { openMainLines } from './command/log-lines/log-lines.ts'
import { systemReason } from './command/terminal/option-paths.ts'
import { openProgram } from './command/program.ts'
import { type CommandContext, type ExitCode, outsideReason } from './command/terminal/command-context.ts'
import { CommandError } from './command/terminal/command-error.ts'
import { programWords } from './command/terminal/program-words.ts'
import { OPTIONS } from './plugged-options.ts'
import { msOf } from './protocol/moment.ts'
import { settleSwitches } from './command/terminal/options.ts'

/** Longest time that the process lives after its command has ended, unless it waits for a reader of standard output. */
const LEFT_OPEN_MS = 2_000

/** Entry point: the only file that reads the clock, the environment, the arguments and the signals of the process. */
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

/**
 * State of standard output. `closed`: its reader has gone away, as `head` does, which is no failure. `failed`: writing
 * fails, as on a full disk. Both end the command.
 */
let output: 'open' | 'closed' | 'failed' = 'open'
process.stdout.on('error', (error) => {
  if (output === 'open') {
    output = 'code' in error && error.code === 'EPIPE' ? 'closed' : 'failed'
    if (output === 'failed')
      process.stderr.write(`daybook: standard output cannot be written: ${systemReason(error)}\n`)
  }
  stop.abort()
})
// The last write may fail after the command has set exit code 0.
process.once('exit', () => {
  if (output === 'failed' || failed) process.exitCode = 1
})
// Standard error may be closed too, and then there is nowhere to report it.
process.stderr.on('error', () => undefined)

const context: CommandContext = {
  now: () => msOf(Date.now()),
  // One clock for all threads: allowances and streams compare its readings.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  random: Math.random,
  program: programWords({
    file: import.meta.filename,
    cwd: process.cwd(),
    npmCommand: process.env['npm_command'],
  }),
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stderr.isTTY,
  drawn: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
  columns: () => (process.stdout.isTTY ? process.stdout.columns : null),
  openFilesMax,
  sharesPorts: process.platform === 'linux',
  hasFileModes: process.platform !== 'win32',
  isRoot: process.geteuid?.() === 0,
  stop: stop.signal,
}
const lines = openMainLines(context)

/** Whether an unhandled rejection has occurred, which stops the command as a signal does: a service drains first. */
let failed = false
process.on('unhandledRejection', (error) => {
  failed = true
  lines.say('rejection', { err: error })
  stop.abort()
})

const done = (code: ExitCode): void => {
  process.exitCode = code
}

try {
  const program = await openProgram(
    { context, lines, input: process.stdin, options: OPTIONS },
    process.argv.slice(2),
    done,
  )
  throwUsageErrors(program)
  settleSwitches(program, process.env)
  await program.parseAsync(process.argv)
} catch (error) {
  process.exitCode = exitCodeOf(error)
}
// Unread lines, or a thread or connection that did not end, would keep the process, and a service manager would kill
// it.
setInterval(() => {
  if (process.stdout.writableLength === 0) process.exit()
}, LEFT_OPEN_MS).unref()

function throwUsageErrors(command: Command): void {
  command.exitOverride()
  for (const below of command.commands) throwUsageErrors(below)
}

/** Soft limit of open files, as raised by Node; null where the system does not report it. */
function openFilesMax(): number | null {
  // The report would otherwise look up the host names of peers, which takes seconds.
  Object.assign(process.report, { excludeNetwork: true })
  const report: Readonly<{ userLimits?: Readonly<{ open_files?: Readonly<{ soft?: unknown }> }> }> = Object(
    process.report.getReport(),
  )
  const soft = report.userLimits?.open_files?.soft
  if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER
  return typeof soft === 'number' ? soft : null
}

function exitCodeOf(error: unknown): ExitCode {
  // Later errors follow from the lost output, which is already reported.
  if (output !== 'open') return output === 'closed' ? 0 : 1
  // Commander has printed the message; help and version have its code 0.
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
  lines.say('crashed', { err: error })
  return 1
}
