/** Text of a caught value for a report: the stack if it is an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/**
 * Error numbers of EDQUOT (disk quota exceeded) in Node: Linux, then macOS and the BSDs. Node knows neither its name
 * nor its message.
 */
const QUOTA_ERRNOS: ReadonlySet<unknown> = new Set([-122, -69])
export const QUOTA_WORDS = 'disk quota exceeded'
const UNKNOWN_WORDS = /UNKNOWN: unknown error|Unknown system error -\d+(: Unknown system error -\d+)?/

/** Whether a system error means that a disk quota is used up. */
export function isOverQuota(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && QUOTA_ERRNOS.has(error.errno)
}

/** Message of a caught value, without the name of its class. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isOverQuota(error) ? error.message.replace(UNKNOWN_WORDS, `EDQUOT: ${QUOTA_WORDS}`) : error.message
}
