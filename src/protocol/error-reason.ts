/** Text of a caught value for a report: the stack of an error if there is one. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
