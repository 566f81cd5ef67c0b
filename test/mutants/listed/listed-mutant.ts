/** Mutant of the list, chosen by hand. */
export type ListedMutant = Readonly<{
  id: string
  file: string
  /** Text that occurs once in the file. */
  from: string
  to: string
  /** The promise that it breaks. */
  promise: string
  /** Test files that are expected to fail, the cheapest first. */
  tests: readonly string[]
}>
