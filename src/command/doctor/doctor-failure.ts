import { type DaybookError, problemOf } from '../../client/daybook-error.ts'
import { printable } from '../terminal/output.ts'

/** Codes of a used-up rate limit: of the service, and of a proxy, whose 429 has no code. */
const LIMITED: readonly string[] = ['rate-limited', 'unexpected-answer']

/** Reason of a failed request for a finding: what the service answered, and what to do. */
export function failureText({ code, message, status, retryAfterMs }: DaybookError): string {
  if (status === 429 && LIMITED.includes(code)) {
    const when = retryAfterMs === undefined ? 'later' : `in ${retryAfterMs / 1_000} s`
    return `the rate limit of this address is used up: run doctor again ${when}`
  }
  const answered = `the service answered ${status}`
  return printable(status < 500 || message === answered ? message : `${answered}: ${message}`)
}

/** Reason why an answer says nothing about proxies: 429, or a failure of the service; null for any other answer. */
export function refusalText(status: number, headers: Headers, body: string): string | null {
  return status === 429 || status >= 500 ? failureText(problemOf(status, headers, body)) : null
}
