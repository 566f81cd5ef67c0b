import { z } from 'zod'
import { AMOUNT_PATTERN, PRICE_PATTERN } from '../amount.ts'
import { recordOf } from '../brand.ts'

// Schemas of the fields of all answers. Each use of a field adds a description, and `x-unit` when the form does not
// show the unit. The documents and the page `/api` show both.

/** Type of the JSON that a schema describes, read-only at every depth. */
export type Described<Schema extends z.ZodType> = ReadOnly<z.output<Schema>>

type ReadOnly<T> = T extends object ? { readonly [Key in keyof T]: ReadOnly<T[Key]> } : T

export const seq = z.int().min(0)
export const id = z.int().min(1)
export const numberSchema = z.int()
export const bytesSchema = z.int().meta({ 'x-unit': 'bytes' })
export const amountSchema = z.string().regex(AMOUNT_PATTERN).meta({ 'x-unit': 'tokens' })
export const price = z
  .string()
  .regex(PRICE_PATTERN)
  .meta({ 'x-unit': 'US dollars per token' })
  .nullable()
  .describe('The last known price; null before the first')
export const month = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)
  .describe('The month, in UTC')
export const textSchema = z.string()
export const contestId = id.describe('The contest’s number')
export const next = textSchema.nullable().describe('Path of the next page; null on the last')

const at = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
const ms = z.int()
const SAME = 'The same in milliseconds since 1970'

type Pair<Name extends string, Text, Ms> = Record<Name, z.ZodType<Text>> & Record<`${Name}Ms`, z.ZodType<Ms>>

/** The two fields of a moment: a text, and a number whose name ends with `Ms`. */
export function momentSchema<Name extends string>(name: Name, meaning: string): Pair<Name, string, number> {
  return {
    ...recordOf([name], () => at.describe(meaning)),
    ...recordOf([`${name}Ms`] as const, () => ms.describe(SAME)),
  }
}

/** The two fields of a moment that may be null. */
export function momentOrNull<Name extends string>(
  name: Name,
  meaning: string,
): Pair<Name, string | null, number | null> {
  return {
    ...recordOf([name], () => at.nullable().describe(meaning)),
    ...recordOf([`${name}Ms`] as const, () => ms.nullable().describe(`${SAME}; null with it`)),
  }
}

/** Last event that an answer counts. */
export const asOfSchema = z
  .strictObject({
    seq: seq.describe('Seq of the last event counted; 0 for an empty log'),
    ...momentOrNull('at', 'The moment of the last event counted; null for an empty log'),
  })
  .describe('The last event counted')

export type AsOf = Described<typeof asOfSchema>

export const now = z
  .strictObject(momentSchema('at', 'The present, floored to the minute'))
  .describe('The present minute, used for the answer')
