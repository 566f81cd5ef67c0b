import type { Ms } from '../../protocol/moment.ts'
import { type FactName, factOf } from './facts.ts'
import { fieldOf, type LineField } from './line-fields.ts'
import { escapeControls, shownError, type ShownError, shownText } from './shown-text.ts'

/** Plain values of a line, by field; undefined ones are left out. */
export type LineValues = Readonly<Partial<Record<LineField, unknown>>>

/** The fields of the fact with the values that a line may show, in the order of the table. Other fields are dropped. */
export function lineValues(name: FactName, fields: LineValues): LineValues {
  const fact = factOf(name)
  const values: Partial<Record<LineField, unknown>> = {}
  for (const field of [...fact.fields, ...(fact.optional ?? [])]) {
    const value = fields[field]
    if (value === undefined) continue
    const { form } = fieldOf(field)
    if (form === 'error') values[field] = shownError(value)
    else values[field] = form === 'text' && typeof value === 'string' ? shownText(value) : value
  }
  return values
}

/** Message of a line. */
export function messageOf(name: FactName, values: LineValues): string {
  const valueOf = (field: string): unknown => Reflect.get(values, field)
  return factOf(name)
    .text.replaceAll(
      /\{(\w+)\}([a-z ]+)\(s\)/g,
      (_, field: string, words: string) => `{${field}}${words}${valueOf(field) === 1 ? '' : 's'}`,
    )
    .replaceAll(/\{(\w+)\}/g, (_, field: string) => String(valueOf(field)))
}

/** The line for a terminal: time, level unless it is `info`, message, and the fields that the message lacks. */
export function formatForTerminal(name: FactName, values: LineValues, at: Ms): string {
  const { level, text, said = [] } = factOf(name)
  const time = new Date(at).toISOString().slice(11, 19)
  const isSaid = (field: string): boolean =>
    field === 'err' || text.includes(`{${field}}`) || said.some((each) => each === field)
  const words = [
    time,
    ...(level === 'info' ? [] : [level.toUpperCase()]),
    messageOf(name, values),
    ...Object.entries(values).flatMap(([field, value]) => (isSaid(field) ? [] : wordsOf(field, value))),
  ]
  const stack = values.err === undefined ? [] : framesOf(shownError(values.err))
  return [words.join(' '), ...stack].map(escapeControls).join('\n')
}

/** A field as `name=value`. The options in effect have a word each, without those that are empty. */
function wordsOf(field: string, value: unknown): readonly string[] {
  if (typeof value === 'string') return [`${field}=${value}`]
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${field}=${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, each]) => (each === '' ? [] : wordsOf(name, each)))
}

function framesOf({ name, message, stack, cause }: ShownError): readonly string[] {
  const below = cause === undefined ? [] : framesOf(cause).map((line) => `  ${line}`)
  return [`  ${name}: ${message}`, ...stack.map((frame) => `    ${frame}`), ...below]
}
