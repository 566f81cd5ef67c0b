import type { World } from '../terminal/world.ts'

/** Result of one check of `doctor`: `wrong` must be corrected now, `warn` may cause trouble later. */
export type Diagnosis = Readonly<{ is: 'ok' | 'note' | 'warn' | 'wrong'; what: string; says: string }>

export const ok = (what: string, says: string): Diagnosis => ({ is: 'ok', what, says })
export const note = (what: string, says: string): Diagnosis => ({ is: 'note', what, says })
export const warn = (what: string, says: string): Diagnosis => ({ is: 'warn', what, says })
export const wrong = (what: string, says: string): Diagnosis => ({ is: 'wrong', what, says })

/** Prints a line for each finding. */
export function printDiagnoses(found: readonly Diagnosis[], world: World): void {
  const width = Math.max(...found.map(({ what }) => what.length))
  for (const { is, what, says } of found) {
    world.stdout.write(`${is.padEnd(5)}  ${what.padEnd(width)}  ${says}\n`)
  }
}
