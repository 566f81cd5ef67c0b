import { type Logger, pino } from 'pino'
import type { Ms } from '../../protocol/moment.ts'
import type { World } from '../terminal/world.ts'
import { LINE_LEVELS, type LineLevel } from './fact-form.ts'
import { type FactName, factOf, type FieldsOf } from './facts.ts'
import { formatForTerminal, type LineValues, lineValues, messageOf } from './line-format.ts'
import { openLineLimit } from './line-limit.ts'
import { escapeControls } from './shown-text.ts'

/** The wanted lines. Plain data, so that each thread leaves out what nobody wants. */
export type LineChoice = Readonly<{
  /** Lines of graver levels are written too. */
  level: LineLevel
  /** Whether lines name the truncated address of a caller. */
  callers: boolean
  /** Facts without lines. */
  without: readonly FactName[]
}>

/** Writes the log lines of the service. */
export type LogLines = Readonly<{
  /** Writes the line of a fact, if it is wanted and not one too many in its second. */
  say<Name extends FactName>(name: Name, fields: FieldsOf<Name>): void
  /** Writes a line that another thread has made. */
  pass(name: FactName, values: LineValues): void
  /** The lines that are wanted. */
  choice(): LineChoice
  wants(level: LineLevel): boolean
  /** Writes the lines that are left out as counts. */
  flush(): void
}>

/** Bytes of lines that wait for a reader of standard error. Beyond it lines are lost and counted. */
export const WAITING_BYTES_MAX: number = 1024 * 1024

const DEFAULT_LINE_CHOICE: LineChoice = { level: 'info', callers: false, without: [] }

type LineSink = (name: FactName, values: LineValues) => void

/** Opens lines that go to a sink. `choice` may change during the run. */
export function openLines(sink: LineSink, monotonicMs: () => number, choice: () => LineChoice): LogLines {
  const limit = openLineLimit(monotonicMs, (of, count) => sink('suppressed', { of, count }))
  const wants = (level: LineLevel): boolean =>
    LINE_LEVELS.indexOf(level) <= LINE_LEVELS.indexOf(choice().level)
  const pass = (name: FactName, fields: LineValues): void => {
    const { callers, without } = choice()
    if (!wants(factOf(name).level) || without.includes(name)) return
    if (name !== 'suppressed' && !limit.allows(name)) return
    const { caller, ...values } = lineValues(name, fields)
    sink(name, callers && caller !== undefined ? { ...values, caller } : values)
  }
  return {
    say: pass,
    pass,
    choice,
    wants,
    flush: limit.flush,
  }
}

/** The lines of this process, and the choice of the command that runs. */
export type MainLines = LogLines & Readonly<{ choose(choice: LineChoice): void }>

/** Opens the lines of this process on standard error: JSON, or readable on a terminal. */
export function openMainLines(
  world: Pick<World, 'now' | 'monotonicMs' | 'stderr' | 'interactive'>,
): MainLines {
  let choice = DEFAULT_LINE_CHOICE
  const write = openWriting(world)
  return {
    ...openLines(write, world.monotonicMs, () => choice),
    choose(chosen) {
      choice = chosen
    },
  }
}

function openWriting(world: Parameters<typeof openMainLines>[0]): LineSink {
  const { stderr, now, interactive } = world
  const log = openJson(now, (line) => void stderr.write(line))
  let lost = 0

  function write(name: FactName, values: LineValues): void {
    if (interactive) stderr.write(`${formatForTerminal(name, values, now())}\n`)
    else log[factOf(name).level]({ fact: name, ...values }, messageOf(name, values))
  }
  return (name, values) => {
    if (stderr.writableLength > WAITING_BYTES_MAX) {
      lost += 1
      return
    }
    if (lost > 0) write('lost', { count: lost })
    lost = 0
    write(name, values)
  }
}

/** Opens the writing of JSON lines. */
function openJson(now: () => Ms, write: (line: string) => void): Logger {
  return pino(
    {
      base: null,
      level: 'debug',
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      // `err` is plain data already.
      serializers: { err: (value: unknown) => value },
    },
    { write: (line) => write(`${escapeControls(line.trimEnd())}\n`) },
  )
}
