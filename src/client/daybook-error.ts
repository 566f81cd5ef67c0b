import type { ParameterFault, ProblemCode } from '../protocol/problem.ts'

/**
 * Code of a failure: the `code` of the service's problem (RFC 9457), or a code of this client.
 * `unreachable`: the connection failed or broke. `timeout`: the service sent nothing for too long.
 * `unexpected-answer`: the answer breaks the protocol. `too-large`: the answer exceeds a limit of the client.
 * `gap`: an event is missing. `another-log`: the service now has another log than before.
 */
export type ErrorCode = ProblemCode | 'unreachable' | 'timeout' | 'unexpected-answer' | 'too-large' | 'gap'

type ErrorFields = Readonly<{
  /** HTTP status; 0 without an answer. */
  status?: number
  /** Faults by parameter. */
  errors?: readonly ParameterFault[]
  /** `Retry-After` of the answer. */
  retryAfterMs?: number | undefined
  cause?: unknown
}>

/** The only error class of the client. An abort is thrown as the signal's own reason instead. */
export class DaybookError extends Error {
  override readonly name = 'DaybookError'
  readonly code: ErrorCode | (string & {})
  readonly status: number
  readonly errors: readonly ParameterFault[]
  readonly retryAfterMs: number | undefined

  constructor(
    code: DaybookError['code'],
    message: string,
    { status = 0, errors = [], retryAfterMs, cause }: ErrorFields = {},
  ) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.errors = errors
    this.retryAfterMs = retryAfterMs
  }
}

/** Error for an answer that breaks the protocol. */
export const unexpected = (message: string, fields?: ErrorFields): DaybookError =>
  new DaybookError('unexpected-answer', message, fields)

/** Whether an answer has this media type, apart from parameters. */
export const isOfType = (headers: Headers, type: string): boolean =>
  headers.get('content-type')?.startsWith(type) === true

/** Error for an answer whose status is neither 2xx nor 304. Its body may be anything. */
export function problemOf(status: number, headers: Headers, body: string): DaybookError {
  let problem: { code?: unknown; detail?: unknown; errors?: unknown } = {}
  try {
    if (isOfType(headers, 'application/problem+json')) problem = JSON.parse(body) ?? {}
  } catch {
    // An intermediary may have truncated the body. The status is enough.
  }
  const { code, detail, errors } = problem
  return new DaybookError(
    typeof code === 'string' ? code : 'unexpected-answer',
    typeof detail === 'string' ? detail : `the service answered ${status}`,
    { status, errors: Array.isArray(errors) ? errors : [], retryAfterMs: retryAfterMsOf(headers) },
  )
}

/** `Retry-After` in whole seconds. The service never sends a date, so a date counts as absent. */
function retryAfterMsOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}
