import { createHash } from 'node:crypto'
import { errorMessage } from '../protocol/error-reason.ts'
import type { ScriptCheck } from './script.ts'
import { ANSWER_BYTES_MAX, type SentAnswer } from './sender.ts'

/** A check that fails: the wanted and the actual value. Both may hold text of the service. */
export type Fault = Readonly<{ wanted: string; was: string }>

/** Values that earlier steps captured, by name. */
export type Captures = Map<string, string>

/** Most characters of an answer that are searched by a pattern: a hostile answer could make the search long. */
export const SEARCHED_CHARS_MAX: number = 128 * 1024

const CAPTURED = /\$([a-z]\w*)/gi

/** Names of the captures that a text uses. */
export function capturesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(CAPTURED), ([, name = '']) => name)
}

/** The text with the values of captures. Throws when one is missing. */
export function filled(text: string, captures: Captures, form = (value: string): string => value): string {
  return text.replaceAll(CAPTURED, (_, name: string) => {
    const value = captures.get(name)
    if (value === undefined) throw new Error(`nothing was captured as ${name}`)
    return form(value)
  })
}

/**
 * Checks an answer, and captures the value that the check names. Returns null when the check holds, and the reason when
 * the answer is too long to be checked.
 */
export function runCheck(check: ScriptCheck, answer: SentAnswer, captures: Captures): Fault | TooLong | null {
  const { part, path, test, value, line, capture } = check
  const isRead = part !== 'code' && part !== 'header'
  if (isRead && answer.isCut) {
    if (answer.isSized) return TOO_LONG
    return { wanted: line, was: `an answer without an end in ${ANSWER_BYTES_MAX} bytes` }
  }
  try {
    const actual = partOf(answer, part, path)
    const isPattern = test === 'matches'
    const wanted = filled(value, captures, isPattern ? (text) => RegExp.escape(text) : undefined)
    const searched = isPattern ? actual?.slice(0, SEARCHED_CHARS_MAX) : actual
    const found = isPattern ? new RegExp(wanted, 'u').exec(searched ?? '') : null
    const captured = isPattern ? found?.[1] : actual
    const holds = captureHolds(capture, captured) && compare(test, actual, wanted, found !== null, value)
    if (holds && capture !== null && captured !== undefined) captures.set(capture, captured)
    return holds ? null : { wanted: filled(line, captures), was: actual ?? 'nothing' }
  } catch (error) {
    return { wanted: line, was: errorMessage(error) }
  }
}

/** The answer is larger than what is read. */
type TooLong = typeof TOO_LONG
export const TOO_LONG = 'too long'

const captureHolds = (name: string | null, value: string | undefined): boolean =>
  name === null || value !== undefined

function compare(
  test: ScriptCheck['test'],
  actual: string | undefined,
  wanted: string,
  isFound: boolean,
  value: string,
): boolean {
  if (test === null) return true
  if (test === 'absent') return value === '' ? actual === undefined : actual?.includes(wanted) !== true
  if (test === '!=') return actual !== wanted
  if (actual === undefined) return false
  if (test === '==') return actual === wanted
  if (test === 'contains') return actual.includes(wanted)
  if (test === 'matches') return isFound
  return test === '>=' ? Number(actual) >= Number(wanted) : Number(actual) <= Number(wanted)
}

function partOf(answer: SentAnswer, part: ScriptCheck['part'], path: string): string | undefined {
  switch (part) {
    case 'code':
      return String(answer.code)
    case 'header':
      return answer.headers.get(path) ?? undefined
    case 'json':
      return textOf(valueAt(answer.json(), path))
    case 'sha256':
      return createHash('sha256').update(answer.body).digest('hex')
    case 'body':
      return answer.body.toString()
  }
}

/** The value at a dotted path, such as `page.next` or `buckets.0.at`; `length` counts an array. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json
  for (const name of path.split('.')) {
    value =
      Object(value) === value && Object.hasOwn(Object(value), name)
        ? Reflect.get(Object(value), name)
        : undefined
  }
  return value
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || value === undefined ? value : JSON.stringify(value)
