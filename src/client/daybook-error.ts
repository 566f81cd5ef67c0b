import type { ParameterFault, ProblemCode } from '../protocol/problem.ts'

/**
 * Why there is no answer: the `code` of the service's problem (RFC 9457), or one of our own.
 * `unreachable`: no connection, or one that broke. `timeout`: nothing came for too long. `unexpected-answer`: not
 * what this protocol says. `too-large`: more than a limit of ours. `gap`: an event that nobody could give.
 * `another-log`: the service has another log than the one that was followed.
 */
export type ErrorCode =
  | ProblemCode
  | 'unreachable'
  | 'timeout'
  | 'unexpected-answer'
  | 'too-large'
  | 'gap'
  | 'another-log'

export type ErrorFields = Readonly<{
  /** The HTTP status; 0 where there was no answer. */
  status?: number
  /** What is wrong with each parameter. */
  errors?: readonly ParameterFault[]
  /** How long the service asked to be left alone. */
  retryAfterMs?: number | undefined
  cause?: unknown
}>

/** The one error of the client. An abort is no error of ours: it is thrown as the signal's own reason. */
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

/** What is answered is not what this protocol says. */
export const unexpected = (message: string, fields?: ErrorFields): DaybookError =>
  new DaybookError('unexpected-answer', message, fields)

/** Whether an answer says that it is of a media type, its parameters aside. */
export const isOfType = (headers: Headers, type: string): boolean =>
  headers.get('content-type')?.startsWith(type) === true

/** The error that an answer of another status than 2xx or 304 stands for; its body may be anything. */
export function problemOf(status: number, headers: Headers, body: string): DaybookError {
  let problem: { code?: unknown; detail?: unknown; errors?: unknown } = {}
  try {
    if (isOfType(headers, 'application/problem+json')) problem = JSON.parse(body) ?? {}
  } catch {
    // What is between us and the service may cut an answer; its status says enough.
  }
  const { code, detail, errors } = problem
  return new DaybookError(
    typeof code === 'string' ? code : 'unexpected-answer',
    typeof detail === 'string' ? detail : `the service answered ${status}`,
    { status, errors: Array.isArray(errors) ? errors : [], retryAfterMs: retryAfterMsOf(headers) },
  )
}

/** `Retry-After` in whole seconds. A date, which the service never sends, is left to the wait after any failure. */
function retryAfterMsOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}
