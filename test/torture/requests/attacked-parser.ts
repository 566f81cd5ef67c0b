import assert from 'node:assert/strict'
import type { Random } from '../../../sim/random.ts'
import { mutated } from './mutations.ts'

/** Outcome of a parser: a refusal, or a value, with its bytes when the format has one form for each value. */
export type Outcome = Readonly<{ is: 'refused' } | { is: 'accepted'; again?: string | Uint8Array }>
export const REFUSED: Outcome = { is: 'refused' }
export const ACCEPTED: Outcome = { is: 'accepted' }

/** A parser of bytes that others send. */
export type AttackedParser = Readonly<{
  name: string
  /** Valid inputs. */
  valid: readonly (string | Uint8Array)[]
  read(bytes: Buffer): Outcome | Promise<Outcome>
  /** Names of the errors that it throws for bad input; none when it returns a value for any input. */
  throws?: readonly string[]
}>

type AttackCounts = { accepted: number; refused: number; rewritten: number }

/** Feeds a parser with one damaged input. Fails when it breaks a rule, with all that is needed to repeat it. */
export async function attack(
  parser: AttackedParser,
  random: Random,
  counts: AttackCounts,
  place: string,
): Promise<void> {
  const valid = parser.valid.map((one) => Buffer.from(one as string))
  const [first = Buffer.alloc(0)] = valid
  const pick = (): Buffer => valid[random.below(valid.length)] ?? first
  const input = Buffer.from(mutated(random, pick(), pick()))
  const what = `${parser.name}, ${place}, base64: ${input.toString('base64').slice(0, 4_000)}`
  const outcome = await outcomeOf(parser, input, what)
  assert.equal(Reflect.get({}, 'polluted'), undefined, `${what} changed a prototype`)
  if (outcome.is === 'refused') counts.refused += 1
  else counts.accepted += 1
  if (outcome.is === 'refused' || outcome.again === undefined) return
  counts.rewritten += 1
  assert.ok(Buffer.from(outcome.again as string).equals(input), `${what} was accepted in another form`)
}

/** Outcome of an input. Fails when the parser throws an error of another kind than it says. */
export async function outcomeOf(parser: AttackedParser, input: Buffer, what: string): Promise<Outcome> {
  try {
    return await parser.read(input)
  } catch (error) {
    const name = error instanceof Error ? error.name : 'no error'
    if (parser.throws?.includes(name) === true) return REFUSED
    throw new Error(`${what} made it throw ${name}`, { cause: error })
  }
}

/** Outcome of a parser whose result is undefined or null for a refusal. */
export function ofValue<Value>(
  value: Value | undefined | null,
  format?: (value: Value) => string | Uint8Array,
): Outcome {
  if (value === undefined || value === null) return REFUSED
  return format === undefined ? ACCEPTED : { is: 'accepted', again: format(value) }
}

/** Outcome of a parser whose result has `ok`. */
export function ofVerdict<Value>(
  verdict: Readonly<{ ok: true; value: Value }> | Readonly<{ ok: false }>,
  format?: (value: Value) => string | Uint8Array,
): Outcome {
  return verdict.ok ? ofValue(verdict.value, format) : REFUSED
}
