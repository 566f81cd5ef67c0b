/** Fault and its place: an address, a field, a month or a seq. Contains no content of the log. */
export type Finding = Readonly<{ place: string; what: string }>

/** Error for wrong published content. Reading on would prove nothing. */
export class WrongError extends Error {
  override readonly name = 'WrongError'
  readonly finding: Finding

  constructor(place: string, what: string, options?: ErrorOptions) {
    super(`${place}: ${what}`, options)
    this.finding = { place, what }
  }
}

/** Finding of a `WrongError`. Throws any other error. */
export function findingOf(error: unknown): Finding {
  if (error instanceof WrongError) return error.finding
  throw error
}
