import type { Ms } from '../../protocol/moment.ts'
import { isList, LIST_VALUES_MAX, type Parameter, type ParameterForm } from '../../protocol/parameters.ts'
import { parseQueryTime, plainTime, TIME_FORMS } from '../../protocol/query-time.ts'
import {
  type ParameterFault,
  type Parsed,
  parsed,
  type ProblemCode,
  refused,
} from '../../protocol/problem.ts'
import { isTx, TX_FORM } from '../../protocol/tx.ts'
import { isForbidden, looksLikeAddress, plainCharsOf } from './address.ts'
import { WORD } from '../../protocol/rules.ts'
import { nearest } from './nearest.ts'

/** Query that fits its endpoint's parameters. Absent parameters are undefined. */
export type ParsedQuery = Readonly<{
  /** The query as plain values, from which another thread opens the same one (`openQuery`). */
  values: ParsedValues
  time(name: string): Ms | undefined
  integer(name: string): number | undefined
  /** A word, a text, a transaction, or one of a list of values. */
  word(name: string): string | undefined
  flag(name: string): boolean
  /** Whether the parameter is present. */
  has(name: string): boolean
  /** Distinct words of a list, in the order of the query. */
  list(name: string): readonly string[] | undefined
  /** Distinct integers of a list, in the order of the query. */
  integers(name: string): readonly number[] | undefined
  /**
   * Writes the query again, percent-encoded and in the order of the table. `changes` replaces parameters, or omits them
   * if undefined. Empty, or begins with `?`.
   */
  format(changes?: Readonly<Record<string, string | undefined>>): string
}>

/** Values of a query by the names of their parameters. */
export type ParsedValues = ReadonlyMap<string, Value>

type Value = { text: string } & (
  | { is: 'time'; value: Ms }
  | { is: 'integer'; value: number }
  | { is: 'word'; value: string }
  | { is: 'flag' }
  | { is: 'list'; value: readonly string[] }
  | { is: 'integers'; value: readonly number[] }
)

const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,15})$/
/** Most faults that a problem lists. The rest of the query is not read. */
const FAULTS_MAX = 8
/**
 * Most decoded characters of refused names and values that are searched for an address, which takes a few milliseconds.
 * The search only decides the message, because no refused text is repeated anyway.
 */
const SEARCHED_CHARS_MAX = 256
/**
 * Parses a raw query (without its `?` and empty pairs) by an endpoint's parameters. A problem lists every fault, up to
 * `FAULTS_MAX`, and repeats no value.
 */
export function parseQuery(raw: string, table: readonly Parameter[]): Parsed<ParsedQuery> {
  const values = new Map<string, Value>()
  const findings: QueryFault[] = []
  const search: Search = { charsLeft: SEARCHED_CHARS_MAX }
  for (const pair of raw === '' ? [] : joinLists(raw.split('&'), table)) {
    const finding = readPair(pair, table, values, search)
    if (finding !== undefined && findings.push(finding) === FAULTS_MAX) break
  }
  const first = findings[0]
  if (first === undefined) return parsed(openQuery(values, table))
  // An address comes before all other faults, because nothing of it may be repeated.
  const address = findings.find(({ code }) => code === 'address-forbidden')
  return refused({
    code: address?.code ?? first.code,
    detail: findings.length === 1 ? first.fault.message : `${countOf(findings)} parameters are not right.`,
    errors: findings.map((finding) => finding.fault),
  })
}

const countOf = ({ length }: readonly QueryFault[]): string =>
  length < FAULTS_MAX ? String(length) : `${FAULTS_MAX} or more`

/** Joins the values of a repeated list by commas, at the position of the first one. */
function joinLists(pairs: readonly string[], table: readonly Parameter[]): readonly string[] {
  const joined: string[] = []
  const places = new Map<string, number>()
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const place = name === undefined ? undefined : places.get(name)
    if (place !== undefined) {
      joined[place] += `,${equals < 0 ? '' : pair.slice(equals + 1)}`
      continue
    }
    if (name !== undefined && equals >= 0 && table.some((row) => row.name === name && isList(row.form)))
      places.set(name, joined.length)
    joined.push(pair)
  }
  return joined
}

function readPair(
  pair: string,
  table: readonly Parameter[],
  values: Map<string, Value>,
  search: Search,
): QueryFault | undefined {
  const equals = pair.indexOf('=')
  const [rawName, rawText] = equals < 0 ? [pair] : [pair.slice(0, equals), pair.slice(equals + 1)]
  const name = decode(rawName)
  const parameter = table.find((row) => row.name === name)
  const text = rawText === undefined ? undefined : decode(rawText)
  if (parameter === undefined) {
    const sent = [name ?? rawName, text ?? rawText ?? '']
    return sent.some((one) => isSearched(one, search) && looksLikeAddress(one))
      ? forbidden(null)
      : unknown(name, table)
  }
  const read = text === undefined ? invalid(parameter.form) : readValue(text, parameter.form)
  const sent = text ?? rawText ?? ''
  const isAsked = 'is' in read ? isOpen(parameter.form) : isSearched(sent, search)
  if (isAsked && isForbidden(sent, parameter.form)) {
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
  // Stored despite the fault, so that a second one counts as repeated.
  values.set(parameter.name, NOTHING)
  return {
    code: 'invalid-parameter',
    fault: { parameter: parameter.name, ...read, message: `\`${parameter.name}\` ${read.message}` },
  }
}

/** Characters that may still be searched. */
type Search = { charsLeft: number }

/** Whether a refused text is searched for an address. */
function isSearched(text: string, search: Search): boolean {
  search.charsLeft -= plainCharsOf(text)
  return search.charsLeft >= 0
}

/** Value of a parameter that is refused. */
const NOTHING: Value = { is: 'word', text: '', value: '' }

/** Whether a value of the form may be any text. The grammar of the other forms excludes addresses. */
function isOpen({ is }: ParameterForm): boolean {
  return is === 'word' || is === 'words' || is === 'text' || is === 'tx'
}

function readValue(text: string, form: ParameterForm): Value | Refusal {
  switch (form.is) {
    case 'time': {
      const time = parseQueryTime(text)
      if ('fault' in time) return { message: time.fault }
      return { is: 'time', text: plainTime(text, time.ms), value: time.ms }
    }
    case 'integer': {
      const value = integerIn(text, form)
      return value === undefined ? invalid(form) : { is: 'integer', text, value }
    }
    case 'word':
      return WORD.test(text) ? { is: 'word', text, value: text } : invalid(form)
    case 'text':
      return Array.from(text).length <= form.charsMax ? { is: 'word', text, value: text } : invalid(form)
    case 'flag':
      return text === '1' ? { is: 'flag', text } : invalid(form)
    case 'tx':
      return form.chains.some((chain) => isTx(chain, text))
        ? { is: 'word', text, value: text }
        : invalid(form)
    case 'one-of':
      return form.values.includes(text) ? { is: 'word', text, value: text } : invalid(form, text)
    case 'list-of':
    case 'words': {
      const value = distinct(text)
      const fits = value?.every((one) => (form.is === 'words' ? WORD.test(one) : form.values.includes(one)))
      return value !== undefined && fits === true
        ? { is: 'list', text: value.join(','), value }
        : invalid(form, text)
    }
    case 'integers': {
      const texts = distinct(text)
      const value = texts?.map((one) => integerIn(one, form)).filter((one) => one !== undefined)
      return value !== undefined && value.length === texts?.length
        ? { is: 'integers', text: value.join(','), value }
        : invalid(form)
    }
  }
}

/** Integer in plain digits within bounds; undefined for any other text. */
function integerIn(text: string, { min, max }: Readonly<{ min: number; max: number }>): number | undefined {
  const value = PLAIN_INTEGER.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined
}

/** Distinct values of a list; undefined when it is too long. */
function distinct(text: string): readonly string[] | undefined {
  const values = text.split(',')
  return values.length > LIST_VALUES_MAX ? undefined : [...new Set(values)]
}

/** Decodes once, as for forms: `+` is a space. Undefined for bad encoding or bad UTF-8. */
function decode(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Opens the query with these values of an endpoint's parameters. */
export function openQuery(values: ParsedValues, table: readonly Parameter[]): ParsedQuery {
  return {
    values,
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
    integers(name) {
      const found = values.get(name)
      return found?.is === 'integers' ? found.value : undefined
    },
    format(changes = {}) {
      const pairs = table.flatMap(({ name }) => {
        const text = Object.hasOwn(changes, name) ? changes[name] : values.get(name)?.text
        // Commas and colons stay as they are, which keeps URLs legible.
        return text === undefined
          ? []
          : [`${name}=${encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':')}`]
      })
      return pairs.length === 0 ? '' : `?${pairs.join('&')}`
    },
  }
}

/** Fault of one parameter of a query, and the code of its problem. */
type QueryFault = Readonly<{ code: ProblemCode; fault: ParameterFault }>

/**
 * Names that a problem may repeat. They are shorter than any wallet address, of which the shortest has 14 characters.
 */
const NAMEABLE = /^[A-Za-z][A-Za-z0-9_]{0,12}$/

/** Refusal of an address. `name` is null for an unknown parameter, whose name may be the address. */
function forbidden(name: string | null): QueryFault {
  const subject = name === null ? 'A parameter' : `\`${name}\``
  const message = `${subject} looks like a wallet address. It is refused, and nothing of it is repeated.`
  return { code: 'address-forbidden', fault: { parameter: name ?? 'a parameter', message } }
}

/** Fault of a name that the table lacks. */
function unknown(name: string | undefined, table: readonly Parameter[]): QueryFault {
  const allowed = table.map((row) => row.name)
  const nameable = name !== undefined && NAMEABLE.test(name)
  const subject = nameable ? `\`${name}\`` : 'A parameter'
  const meant = name === undefined ? undefined : nearest(name, allowed)
  const question = meant === undefined ? '' : ` Did you mean \`${meant}\`?`
  const rest = allowed.length === 0 ? 'This address takes none.' : `Known are ${allowed.join(', ')}.`
  return {
    code: 'unknown-parameter',
    fault: {
      parameter: nameable ? name : 'a parameter',
      message: `${subject} is not known here.${question} ${rest}`,
      allowed,
    },
  }
}

/** Fault of a value: the rest of a sentence that begins with the parameter's name. */
type Refusal = Readonly<{ message: string; allowed?: readonly string[] }>

const WORD_FORM = 'a lower-case letter, then up to 31 lower-case letters, digits or `_`'
const LIST_FORM = `1 to ${LIST_VALUES_MAX} values, separated by commas`

const boundsOf = ({ min, max }: Readonly<{ min: number; max: number }>): string =>
  `from ${min} to ${max} in plain digits`

/** Fault of a value, with the values that its form allows. `text` may be a misspelt one of them. */
function invalid(form: ParameterForm, text = ''): Refusal {
  switch (form.is) {
    case 'time':
      return { message: `must be a time in UTC, such as ${TIME_FORMS}.` }
    case 'integer':
      return { message: `must be ${form.unit ?? 'an integer'} ${boundsOf(form)}.` }
    case 'word':
      return { message: `must be ${WORD_FORM}.` }
    case 'text':
      return { message: `must be text in UTF-8, percent-encoded, of at most ${form.charsMax} characters.` }
    case 'flag':
      return { message: 'must be 1, or be left out.', allowed: ['1'] }
    case 'tx':
      return { message: `must be ${form.chains.map((chain) => TX_FORM[chain]).join(', or ')}.` }
    case 'one-of':
      return {
        message: `must be ${form.values.length > 1 ? 'one of ' : ''}${form.values.join(', ')}.${meantBy(text, form.values)}`,
        allowed: form.values,
      }
    case 'list-of':
      return { message: listMessage(text, form), allowed: form.values }
    case 'words':
      return { message: `must be ${LIST_FORM}. Each is ${WORD_FORM}.` }
    case 'integers':
      return { message: `must be ${LIST_FORM}. Each is an integer ${boundsOf(form)}.` }
  }
}

/** Fault of a list of known values: an unknown one, or too many. */
function listMessage(
  text: string,
  { values, elsewhere = {} }: Extract<ParameterForm, { is: 'list-of' }>,
): string {
  const known = values.join(', ')
  if (text.split(',', LIST_VALUES_MAX + 1).length > LIST_VALUES_MAX)
    return `must be ${LIST_FORM}, out of ${known}.`
  const instead = Object.keys(elsewhere).find((one) => text.split(',').includes(one))
  const meant = instead === undefined ? meantBy(text, values) : ` Use \`${elsewhere[instead]}\`.`
  return `has a value that is not known.${meant} Allowed: ${known}. Give up to ${LIST_VALUES_MAX}, separated by commas.`
}

/** Question about the misspelt values of a text, with the allowed values near them. */
function meantBy(text: string, values: readonly string[]): string {
  const wrong = text.split(',', LIST_VALUES_MAX).filter((one) => !values.includes(one))
  const meant = [...new Set(wrong.map((one) => nearest(one, values)).filter((one) => one !== undefined))]
  return meant.length === 0 ? '' : ` Did you mean ${meant.join(', ')}?`
}
