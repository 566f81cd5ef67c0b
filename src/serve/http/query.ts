import { WORD } from '../../protocol/catalogue.ts'
import type { Ms } from '../../protocol/moment.ts'
import { parseQueryTime } from '../../protocol/moment.ts'
import type { ParameterForm, Parameter } from '../../protocol/parameters.ts'
import type { ParameterFault, Parsed, ProblemCode } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import { isTx, TX_FORM } from '../../protocol/tx.ts'
import { isForbidden, looksLikeAddress } from './address.ts'

/** A query that fits its endpoint's parameters; absent parameters are undefined. */
export type ParsedQuery = Readonly<{
  time(name: string): Ms | undefined
  integer(name: string): number | undefined
  /** A word, a text, a transaction, or one of a list of values. */
  word(name: string): string | undefined
  flag(name: string): boolean
  /** Whether the parameter is present. */
  has(name: string): boolean
  list(name: string): readonly string[] | undefined
  /**
   * Writes the query again, percent-encoded and in the order of the table, with some parameters replaced or (undefined)
   * left out. Empty, or begins with `?`.
   */
  format(changes?: Readonly<Record<string, string | undefined>>): string
}>

type Value = { text: string } & (
  | { is: 'time'; value: Ms }
  | { is: 'integer'; value: number }
  | { is: 'word'; value: string }
  | { is: 'flag' }
  | { is: 'list'; value: readonly string[] }
)

type Finding = Readonly<{ code: ProblemCode; fault: ParameterFault }>

const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,15})$/
/** Names that a problem may repeat: too short for any wallet address. */
const NAMEABLE = /^[A-Za-z][A-Za-z0-9_]{0,23}$/

/**
 * Parses a raw query (without its `?`) by an endpoint's parameters. A problem lists every fault and repeats no value.
 */
export function parseQuery(raw: string, table: readonly Parameter[]): Parsed<ParsedQuery> {
  const values = new Map<string, Value>()
  const findings: Finding[] = []
  for (const pair of raw === '' ? [] : raw.split('&')) {
    const finding = readPair(pair, table, values)
    if (finding !== undefined) findings.push(finding)
  }
  const first = findings[0]
  if (first === undefined) return parsed(queryOf(values, table))
  // An address comes before all other faults, because nothing of it may be repeated.
  const address = findings.find(({ code }) => code === 'address-forbidden')
  return refused({
    code: address?.code ?? first.code,
    detail: findings.length === 1 ? first.fault.message : `${findings.length} parameters are not right.`,
    errors: findings.map((finding) => finding.fault),
  })
}

function readPair(
  pair: string,
  table: readonly Parameter[],
  values: Map<string, Value>,
): Finding | undefined {
  const equals = pair.indexOf('=')
  const [rawName, rawText] = equals < 0 ? [pair] : [pair.slice(0, equals), pair.slice(equals + 1)]
  const name = decode(rawName)
  const parameter = table.find((row) => row.name === name)
  const text = rawText === undefined ? undefined : decode(rawText)
  if (parameter === undefined) {
    const sent = [name ?? rawName, text ?? rawText ?? '']
    return sent.some(looksLikeAddress) ? forbidden(null) : unknown(name, table)
  }
  const read = text === undefined ? invalid(parameter.form) : readValue(text, parameter.form)
  const sent = text ?? rawText ?? ''
  if ((!('is' in read) || isOpen(parameter.form)) && isForbidden(sent, parameter.form)) {
    values.set(parameter.name, NOTHING)
    return forbidden(parameter.name)
  }
  if (values.has(parameter.name)) {
    const message = `\`${parameter.name}\` is given more than once.`
    return { code: 'repeated-parameter', fault: { parameter: parameter.name, message } }
  }
  if ('is' in read) {
    values.set(parameter.name, read)
    return undefined
  }
  // Noted in spite of the fault, so that a second one counts as repeated.
  values.set(parameter.name, NOTHING)
  return {
    code: 'invalid-parameter',
    fault: { parameter: parameter.name, ...read, message: `\`${parameter.name}\` ${read.message}` },
  }
}

/** Value of a parameter that is refused. */
const NOTHING: Value = { is: 'word', text: '', value: '' }

/** Whether a value of the form may be any text; the other forms have a grammar that no address fits. */
function isOpen({ is }: ParameterForm): boolean {
  return is === 'word' || is === 'text' || is === 'tx'
}

/** Refusal of an address. `name` is null if the parameter is unknown, because its name may be the address. */
function forbidden(name: string | null): Finding {
  const subject = name === null ? 'A parameter' : `\`${name}\``
  const message = `${subject} looks like a wallet address. None is published here, and what was sent is not repeated.`
  return { code: 'address-forbidden', fault: { parameter: name ?? 'a parameter', message } }
}

function unknown(name: string | undefined, table: readonly Parameter[]): Finding {
  const allowed = table.map((row) => row.name)
  const nameable = name !== undefined && NAMEABLE.test(name)
  const subject = nameable ? `\`${name}\`` : 'A parameter'
  const rest = allowed.length === 0 ? 'This address takes none.' : `Known are ${allowed.join(', ')}.`
  return {
    code: 'unknown-parameter',
    fault: {
      parameter: nameable ? name : 'a parameter',
      message: `${subject} is not known here. ${rest}`,
      allowed,
    },
  }
}

/** Fault of a value: the rest of a sentence that begins with the parameter's name. */
type Refusal = Readonly<{ message: string; allowed?: readonly string[] }>

function readValue(text: string, form: ParameterForm): Value | Refusal {
  switch (form.is) {
    case 'time': {
      const time = parseQueryTime(text)
      if ('ms' in time) return { is: 'time', text, value: time.ms }
      if (time.reason === 'not-a-time') return invalid(form)
      return {
        message:
          'as an integer counts milliseconds since 1970, and this one is too small: did you mean milliseconds?',
      }
    }
    case 'integer': {
      const value = PLAIN_INTEGER.test(text) ? Number(text) : Number.NaN
      const fits = Number.isSafeInteger(value) && value >= form.min && value <= form.max
      return fits ? { is: 'integer', text, value } : invalid(form)
    }
    case 'word':
      return WORD.test(text) ? { is: 'word', text, value: text } : invalid(form)
    case 'text':
      return text.length <= form.charsMax ? { is: 'word', text, value: text } : invalid(form)
    case 'flag':
      return text === '1' ? { is: 'flag', text } : invalid(form)
    case 'tx':
      return form.chains.some((chain) => isTx(chain, text))
        ? { is: 'word', text, value: text }
        : invalid(form)
    case 'one-of':
      return form.values.includes(text) ? { is: 'word', text, value: text } : invalid(form)
    case 'list-of': {
      const value = text.split(',')
      const fits = new Set(value).size === value.length && value.every((one) => form.values.includes(one))
      return fits ? { is: 'list', text, value } : invalid(form)
    }
  }
}

/** Values that a form allows, as a fault. */
function invalid(form: ParameterForm): Refusal {
  switch (form.is) {
    case 'time':
      return {
        message:
          'must be an ISO 8601 time in UTC, such as 2026-10-01 or 2026-10-01T12:00:00Z, or integer milliseconds since 1970.',
      }
    case 'integer':
      return { message: `must be an integer from ${form.min} to ${form.max} in plain digits.` }
    case 'word':
      return { message: 'must be a lower-case letter, then up to 31 lower-case letters, digits or `_`.' }
    case 'text':
      return { message: `must have at most ${form.charsMax} characters.` }
    case 'flag':
      return { message: 'must be 1, or be left out.', allowed: ['1'] }
    case 'tx':
      return { message: `must be ${form.chains.map((chain) => TX_FORM[chain]).join(', or ')}.` }
    case 'one-of':
      return { message: `must be one of ${form.values.join(', ')}.`, allowed: form.values }
    case 'list-of':
      return {
        message: `must be a comma-separated list of different values out of ${form.values.join(', ')}.`,
        allowed: form.values,
      }
  }
}

/** Decodes once, as forms encode: `+` is a space. Undefined for bad encoding or bad UTF-8. */
function decode(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function queryOf(values: ReadonlyMap<string, Value>, table: readonly Parameter[]): ParsedQuery {
  return {
    time(name) {
      const found = values.get(name)
      return found?.is === 'time' ? found.value : undefined
    },
    integer(name) {
      const found = values.get(name)
      return found?.is === 'integer' ? found.value : undefined
    },
    word(name) {
      const found = values.get(name)
      return found?.is === 'word' ? found.value : undefined
    },
    flag: (name) => values.get(name)?.is === 'flag',
    has: (name) => values.has(name),
    list(name) {
      const found = values.get(name)
      return found?.is === 'list' ? found.value : undefined
    },
    format(changes = {}) {
      const pairs = table.flatMap(({ name }) => {
        const text = Object.hasOwn(changes, name) ? changes[name] : values.get(name)?.text
        // Commas and colons may stay as they are, and addresses remain legible.
        return text === undefined
          ? []
          : [`${name}=${encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':')}`]
      })
      return pairs.length === 0 ? '' : `?${pairs.join('&')}`
    },
  }
}
