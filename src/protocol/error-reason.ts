/** Text of a caught value for a report: the stack of an error if there is one. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Numbers of EDQUOT, as Node gives them: on Linux, and on macOS and the BSDs. Node has neither its name nor words for it. */
const QUOTA_ERRNOS: ReadonlySet<unknown> = new Set([-122, -69])
export const QUOTA_WORDS = 'disk quota exceeded'
const UNKNOWN_WORDS = /UNKNOWN: unknown error|Unknown system error -\d+(: Unknown system error -\d+)?/

/** Whether an error of the system says that a disk quota is used up. */
export function isOverQuota(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && QUOTA_ERRNOS.has(error.errno)
}

/** Message of a caught value, without the name of its class. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isOverQuota(error) ? error.message.replace(UNKNOWN_WORDS, `EDQUOT: ${QUOTA_WORDS}`) : error.message
}
