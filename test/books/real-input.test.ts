import { suite } from 'node:test'
import { testInput } from './input-suite.ts'
import { openInput } from '../oracle/input.ts'
import { diceOf } from '../oracle/comparison.ts'

/** A folder with a data set. None may be committed: `test/books/generated-input.test.ts` holds a clone to the same. */
const FOLDER = process.env['DAYBOOK_REAL_INPUT'] ?? ''
const SEED = Number(process.env['ORACLE_SEED'] ?? 130_138)
const skip = FOLDER === '' ? 'DAYBOOK_REAL_INPUT names no data set' : false

suite(`the real input (seed ${SEED})`, { skip }, () => {
  testInput(() => openInput(FOLDER), { rounds: 8, dice: diceOf(SEED) })
})
