import { LIST_VALUES_MAX, type Parameter, type ParameterForm } from '../../protocol/parameters.ts'
import { TIME_FORMS } from '../../protocol/query-time.ts'
import type { ParameterFault, ProblemCode } from '../../protocol/problem.ts'
import { TX_FORM } from '../../protocol/tx.ts'
import { nearest } from '../near/nearest.ts'

/** Fault of one parameter of a query, and the problem that says it. */
export type QueryFault = Readonly<{ code: ProblemCode; fault: ParameterFault }>

/** Names that a problem may repeat: too short for any wallet address, of which the shortest has 14 characters. */
const NAMEABLE = /^[A-Za-z][A-Za-z0-9_]{0,12}$/

/** Refusal of an address. `name` is null if the parameter is unknown, because its name may be the address. */
export function forbidden(name: string | null): QueryFault {
  const subject = name === null ? 'A parameter' : `\`${name}\``
  const message = `${subject} looks like a wallet address. It is refused, and nothing of it is repeated.`
  return { code: 'address-forbidden', fault: { parameter: name ?? 'a parameter', message } }
}

/** Fault of a name that the table lacks. */
export function unknown(name: string | undefined, table: readonly Parameter[]): QueryFault {
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
export type Refusal = Readonly<{ message: string; allowed?: readonly string[] }>

const WORD_FORM = 'a lower-case letter, then up to 31 lower-case letters, digits or `_`'
const LIST_FORM = `1 to ${LIST_VALUES_MAX} values, separated by commas`

const boundsOf = ({ min, max }: Readonly<{ min: number; max: number }>): string =>
  `from ${min} to ${max} in plain digits`

/** Values that a form allows, as a fault. `text` may be a misspelt one of them. */
export function invalid(form: ParameterForm, text = ''): Refusal {
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
        message: `must be one of ${form.values.join(', ')}.${meantBy(text, form.values)}`,
        allowed: form.values,
      }
    case 'list-of':
      return { message: listMessage(text, form.values), allowed: form.values }
    case 'words':
      return { message: `must be ${LIST_FORM}. Each is ${WORD_FORM}.` }
    case 'integers':
      return { message: `must be ${LIST_FORM}. Each is an integer ${boundsOf(form)}.` }
  }
}

/** Fault of a list of known values: an unknown one, or too many. */
function listMessage(text: string, values: readonly string[]): string {
  const known = values.join(', ')
  if (text.split(',', LIST_VALUES_MAX + 1).length > LIST_VALUES_MAX)
    return `must be ${LIST_FORM}, out of ${known}.`
  const meant = meantBy(text, values)
  return `has a value that is not known.${meant} Allowed: ${known}. Give up to ${LIST_VALUES_MAX}, separated by commas.`
}

/** Question about the misspelt values of a text, with the allowed ones that are near to them. */
function meantBy(text: string, values: readonly string[]): string {
  const wrong = text.split(',', LIST_VALUES_MAX).filter((one) => !values.includes(one))
  const meant = [...new Set(wrong.map((one) => nearest(one, values)).filter((one) => one !== undefined))]
  return meant.length === 0 ? '' : ` Did you mean ${meant.join(', ')}?`
}
