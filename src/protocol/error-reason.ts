/** Text of a caught value for a report: the stack of an error if there is one. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Number of EDQUOT on Linux, as Node gives it: a disk quota is used up. Node has neither its name nor words for it. */
export const QUOTA_ERRNO = -122
export const QUOTA_WORDS = 'disk quota exceeded'
const UNKNOWN_WORDS = /UNKNOWN: unknown error|Unknown system error -122(: Unknown system error -122)?/

/** Message of a caught value, without the name of its class. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isQuota = 'errno' in error && error.errno === QUOTA_ERRNO
  return isQuota ? error.message.replace(UNKNOWN_WORDS, `EDQUOT: ${QUOTA_WORDS}`) : error.message
}
