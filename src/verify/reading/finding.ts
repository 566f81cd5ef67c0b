/** What is wrong and where: an address, a field, a month, a seq. Nothing of the log's content is in it. */
export type Finding = Readonly<{ place: string; what: string }>

/** What was published is wrong, so that reading on would prove nothing. */
export class WrongError extends Error {
  override readonly name = 'WrongError'
  readonly finding: Finding

  constructor(place: string, what: string, options?: ErrorOptions) {
    super(`${place}: ${what}`, options)
    this.finding = { place, what }
  }
}

/** The finding in an error that says that something published is wrong; any other error is thrown on. */
export function findingOf(error: unknown): Finding {
  if (error instanceof WrongError) return error.finding
  throw error
}
