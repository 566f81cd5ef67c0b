import type { LogIdentity } from '../../log/store/reader.ts'
import { NOTICE, SUBJECT } from '../describe/information.ts'
import type { Column } from './dataset-columns.ts'
import type { Dataset } from './published-files.ts'

/** Operator's settings that the descriptions of the data sets name. */
export type Publisher = Readonly<{
  /** Public base URL without a slash at its end. */
  url: string
  name: string
  /** Symbol of the token, the unit of every amount. */
  token: string
  /** URL of the licence of the published log; null if none. */
  licence: string | null
  /** Contact address, `https:` or `mailto:`; null if none. */
  contact: string | null
}>

/** Content of every description of the data sets. */
export type Publication = Readonly<{
  publisher: Publisher
  log: Pick<LogIdentity, 'id' | 'origin' | 'simulated'>
  description: string
  datasets: readonly Dataset[]
}>

/** Description of the whole, for people. */
export function describePublication(simulated: boolean): string {
  const note = simulated ? ' This is a simulated platform: no event here is of real money.' : ''
  return (
    `${SUBJECT}. ${NOTICE}${note} Amounts are decimals with nine decimals and prices with twelve: read them as exact ` +
    'decimals, never as floating point. A correction is a further event with a negative amount.'
  )
}

/** Unit of a column: the symbol of the token for amounts; null without a unit. */
export function unitFor({ form, unit }: Column, token: string): string | null {
  if (form.is !== 'decimal') return unit
  return form.decimals === 9 ? token : `USD for 1 ${token}`
}
