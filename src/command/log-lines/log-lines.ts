import { styleText } from 'node:util'
import { pino } from 'pino'
import { findsAddress } from '../../protocol/address-guard.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { type FactName, FACTS, type FieldsOf, LINE_LEVELS, type LineLevel, TEXTS } from './facts.ts'

/** Choice of lines, as plain values, so that each thread can omit the other lines. */
export type LineChoice = Readonly<{
  /** Lines of graver levels are written too. */
  level: LineLevel
  /** Whether lines name the truncated address of a caller. */
  callers: boolean
}>

/** Writes the log lines of a thread. */
export type LogLines = Readonly<{
  /** Writes the line of a fact, if it is chosen and below the limit of its second. */
  say<Name extends FactName>(name: Name, fields: FieldsOf<Name>): void
  /** Writes a line that another thread has made. */
  write: LineSink
  /** Current choice of lines; `info` and above by default. */
  choice(): LineChoice
  choose(choice: LineChoice): void
  /** Writes the lines that are left out as counts. */
  flush(): void
}>

/** Values of a line, by field, as they may be shown. */
export type LineValues = Readonly<Record<string, unknown> & { err?: ShownError }>
type LineSink = (name: FactName, values: LineValues) => void

/** Most lines of one fact in a second; further ones are counted. So a flood of refusals writes 20 lines a second. */
export const LINES_A_SECOND_MAX = 20

const SECOND_MS = 1_000

/** Opens lines that go to a sink: standard error, or the main thread. */
export function openLines(
  write: LineSink,
  monotonicMs: () => number,
  chosen: LineChoice = { level: 'info', callers: false },
): LogLines {
  let choice = chosen
  /** Lines of each fact in its current second, and those omitted since the last count. */
  const windows = new Map<FactName, { startMs: number; lines: number; left: number }>()
  let timer: NodeJS.Timeout | undefined

  function isWanted(name: FactName): boolean {
    return LINE_LEVELS.indexOf(FACTS[name].level) <= LINE_LEVELS.indexOf(choice.level)
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    for (const [of, window] of windows) {
      if (window.left > 0 && isWanted('suppressed')) write('suppressed', { of, count: window.left })
      window.left = 0
    }
  }

  /** Whether the current second of a fact has room for a line. Counts the line if not. */
  function hasRoom(name: FactName): boolean {
    const nowMs = monotonicMs()
    const window = windows.get(name) ?? { startMs: nowMs, lines: 0, left: 0 }
    windows.set(name, window)
    if (nowMs - window.startMs >= SECOND_MS) Object.assign(window, { startMs: nowMs, lines: 0 })
    window.lines += 1
    if (window.lines <= LINES_A_SECOND_MAX) return true
    window.left += 1
    timer ??= setTimeout(flush, SECOND_MS).unref()
    return false
  }

  return {
    say(name, fields) {
      if (!isWanted(name) || !hasRoom(name)) return
      const { caller, ...values } = shownValues(name, fields)
      write(name, choice.callers && caller !== undefined ? { ...values, caller } : values)
    },
    write,
    choice: () => choice,
    choose(next) {
      choice = next
    },
    flush,
  }
}

/** Most bytes of lines that wait for a reader of standard error. Beyond it lines are lost and counted. */
export const WAITING_BYTES_MAX: number = 1024 * 1024

/** Opens the lines of the main thread on standard error: JSON, or readable on a terminal. */
export function openMainLines({
  now,
  monotonicMs,
  stderr,
  interactive,
}: Pick<CommandContext, 'now' | 'monotonicMs' | 'stderr' | 'interactive'>): LogLines {
  const log = pino(
    {
      base: null,
      level: 'debug',
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      // `err` is plain data already.
      serializers: { err: (value: unknown) => value },
    },
    { write: (line) => void stderr.write(`${escapeControls(line.trimEnd())}\n`) },
  )
  let lost = 0

  // Colours are left out where the terminal has none, or where NO_COLOR is set.
  const style: Style = (look, text) => (text === '' ? '' : styleText(look, text, { stream: stderr }))

  function write(name: FactName, values: LineValues): void {
    if (interactive) stderr.write(`${formatForTerminal(name, values, now(), style)}\n`)
    else log[FACTS[name].level]({ fact: name, ...values }, messageOf(name, values))
  }
  return openLines((name, values) => {
    if (stderr.writableLength > WAITING_BYTES_MAX) {
      lost += 1
      return
    }
    if (lost > 0) write('lost', { count: lost })
    lost = 0
    write(name, values)
  }, monotonicMs)
}

function messageOf(name: FactName, values: LineValues): string {
  return FACTS[name].message.replaceAll(/\{(\w+)\}/g, (_, field: string) => String(values[field]))
}

type Style = (look: 'dim' | 'red' | 'yellow', text: string) => string

/**
 * Line for a terminal: time in UTC, level unless it is `info`, message, and the fields that the message lacks. Only the
 * level and the message stand out.
 */
function formatForTerminal(name: FactName, { err, ...values }: LineValues, at: Ms, style: Style): string {
  const { level, message } = FACTS[name]
  const others = Object.entries(values).filter(([field]) => !message.includes(`{${field}}`))
  const fields = others.flatMap(([field, value]) => formatField(field, value)).join(' ')
  const words = [
    style('dim', `${new Date(at).toISOString().slice(11, 19)}Z`),
    level === 'info'
      ? ''
      : style(level === 'warn' ? 'yellow' : level === 'debug' ? 'dim' : 'red', level.toUpperCase()),
    escapeControls(messageOf(name, values)),
    style('dim', escapeControls(fields)),
  ]
  const error = err === undefined ? [] : formatError(err).map(escapeControls)
  return [words.filter((word) => word !== '').join(' '), ...error].join('\n')
}

/** Field as `name=value`. Each option in effect is one word; empty options are omitted. */
function formatField(field: string, value: unknown): readonly string[] {
  if (typeof value === 'string') return [`${field}=${value}`]
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${field}=${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, each]) => (each === '' ? [] : formatField(name, each)))
}

function formatError({ name, message, stack, cause }: ShownError): readonly string[] {
  const below = cause === undefined ? [] : formatError(cause).map((line) => `  ${line}`)
  return [`  ${name}: ${message}`, ...stack.map((frame) => `    ${frame}`), ...below]
}

/** Values of a fact's fields in the form for a line, in the order of the table. Other fields are dropped. */
function shownValues(name: FactName, values: Readonly<Record<string, unknown>>): LineValues {
  const given = FACTS[name].fields.filter((field) => values[field] !== undefined)
  return Object.fromEntries(given.map((field) => [field, shownValue(field, values[field])]))
}

function shownValue(field: string, value: unknown): unknown {
  if (field === 'err') return shownError(value)
  return field in TEXTS ? shownText(String(value)) : value
}

/** Most characters of a text in a log line. Longer text is cut. */
export const LINE_TEXT_CHARS_MAX = 1_000
/** Most stack frames of an error, and characters of one. */
const FRAMES_MAX = 12
const FRAME_CHARS_MAX = 300
/** Most causes of an error that are shown. */
const CAUSES_MAX = 3

/** An error in a log line. */
type ShownError = Readonly<{ name: string; message: string; stack: readonly string[]; cause?: ShownError }>

/** Text of an error or of another machine, cut. Hidden when it contains a likely wallet address. */
function shownText(text: string): string {
  const cut = text.length > LINE_TEXT_CHARS_MAX ? `${text.slice(0, LINE_TEXT_CHARS_MAX)}…` : text
  return findsAddress(cut, 'prose') ? '(hidden: it holds what looks like a wallet address)' : cut
}

/** A thrown value for a line. Omits other properties of an error, because they may contain user input. */
function shownError(error: unknown, depth = 0): ShownError {
  if (!(error instanceof Error)) return { name: typeof error, message: shownText(String(error)), stack: [] }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const stack = frames.slice(0, FRAMES_MAX).map((frame) => frame.trim().slice(0, FRAME_CHARS_MAX))
  const { cause } = error
  const deeper = cause === undefined || depth >= CAUSES_MAX ? {} : { cause: shownError(cause, depth + 1) }
  return { name: error.name, message: shownText(error.message), stack, ...deeper }
}

/** Escapes control and format characters, as JSON does, so that no terminal interprets them. */
function escapeControls(text: string): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(escape).join(''))
}
