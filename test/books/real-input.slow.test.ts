import { suite } from 'node:test'
import { testInput } from './input-suite.ts'
import { openInput } from '../oracle/input.ts'
import { diceOf } from '../oracle/trial.ts'

/** A folder with a data set that is not committed. Without it, `generated-input.slow.test.ts` runs the same tests. */
const FOLDER = process.env['DAYBOOK_REAL_INPUT'] ?? ''
const SEED = Number(process.env['ORACLE_SEED'] ?? 130_138)
const skip = FOLDER === '' ? 'DAYBOOK_REAL_INPUT names no data set' : false

suite(`the real input (seed ${SEED})`, { skip }, () => {
  testInput(() => openInput(FOLDER), { rounds: 3, dice: diceOf(SEED) })
})
