import { CONSISTENCY_CASES } from './consistency-cases.ts'
import { REQUEST_CASES } from './request-cases.ts'
import type { WitnessCase } from './witness-case.ts'

/** Every question of the tests to add-checkpoint, with a log of its own. */
export const WITNESS_CASES: readonly (WitnessCase & Readonly<{ origin: string }>)[] = [
  ...CONSISTENCY_CASES,
  ...REQUEST_CASES,
].map((one, index) => ({ ...one, origin: `log.example/${index}` }))
