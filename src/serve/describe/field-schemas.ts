import { z } from 'zod'
import { recordOf } from '../../protocol/brand.ts'

// What the fields of all answers are made of. A field is described where it stands: what it means, and by `x-unit` in
// which unit it counts where its form does not say it. The documents and the page `/api` have the words from there.

export const seq: z.ZodType<number> = z.int().min(0)
export const id: z.ZodType<number> = z.int().min(1)
export const numberSchema: z.ZodType<number> = z.int()
export const bytesSchema: z.ZodType<number> = z.int().meta({ 'x-unit': 'bytes' })
export const amountSchema: z.ZodType<string> = z
  .string()
  .regex(/^-?(?:0|[1-9]\d*)\.\d{9}$/)
  .meta({ 'x-unit': 'tokens' })
export const price: z.ZodType<string | null> = z
  .string()
  .regex(/^(?:0|[1-9]\d*)\.\d{12}$/)
  .meta({ 'x-unit': 'US dollars per token' })
  .nullable()
  .describe('The last price known; null before the first')
export const month: z.ZodType<string> = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)
  .describe('The month, in UTC')
export const textSchema: z.ZodType<string> = z.string()
export const contestId: z.ZodType<number> = id.describe('The contest’s number')
export const next: z.ZodType<string | null> = textSchema
  .nullable()
  .describe('Path of the next page; null on the last')

const at: z.ZodType<string> = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
const ms: z.ZodType<number> = z.int()
const SAME = 'The same in milliseconds since 1970'

type Pair<Name extends string, Text, Ms> = Record<Name, z.ZodType<Text>> & Record<`${Name}Ms`, z.ZodType<Ms>>

/** Both fields of a moment: as a text, and under the same name with `Ms` as a number. */
export function momentSchema<Name extends string>(name: Name, meaning: string): Pair<Name, string, number> {
  return {
    ...recordOf([name], () => at.describe(meaning)),
    ...recordOf([`${name}Ms`] as const, () => ms.describe(SAME)),
  }
}

/** The same of a moment that there may not be. */
export function momentOrNull<Name extends string>(
  name: Name,
  meaning: string,
): Pair<Name, string | null, number | null> {
  return {
    ...recordOf([name], () => at.nullable().describe(meaning)),
    ...recordOf([`${name}Ms`] as const, () => ms.nullable().describe(`${SAME}; null with it`)),
  }
}

export const asOfSchema: z.ZodType<{ seq: number; at: string | null; atMs: number | null }> = z
  .strictObject({
    seq: seq.describe('The last event counted; 0 of an empty log'),
    ...momentOrNull('at', 'The moment of the last event counted; null of an empty log'),
  })
  .describe('The last event counted; seq 0 with null moments on an empty log')

export const now: z.ZodType<{ at: string; atMs: number }> = z
  .strictObject(momentSchema('at', 'The present, floored to the minute'))
  .describe('The present minute, with which the answer was computed')
