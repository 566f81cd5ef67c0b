import { DaybookError } from '../../client/daybook-error.ts'
import { type Daybook, openDaybook } from '../../client/daybook.ts'
import { type Surroundings, SURROUNDINGS } from '../../client/surroundings.ts'
import { printNotice, type CommandContext } from './command-context.ts'
import { CommandError, UsageError } from './command-error.ts'
import { readAddress } from './log-address.ts'
import { printable } from './output.ts'
import { VERSION } from './version.ts'

/** Opens a client of the service at an address that the user gave. */
export function openClient(url: string, context: CommandContext): Daybook {
  const base = readAddress(url)
  return openDaybook({
    base,
    fetch: fetchWithNotice(base, context),
    sleep: SURROUNDINGS.sleep,
    now: context.monotonicMs,
    random: context.random,
    headers: { 'User-Agent': `daybook/${VERSION}` },
  })
}

/** Pause of a command, which rejects when the command is stopped. */
export const pauseOf =
  (stop: AbortSignal) =>
  (ms: number): Promise<void> =>
    SURROUNDINGS.sleep(ms, stop)

/** `fetch` that reports the first failure once, because the client would retry silently for a while. */
export function fetchWithNotice(base: URL, context: CommandContext): Surroundings['fetch'] {
  let isAnswered = false
  let isReported = false
  return async (address, init) => {
    try {
      const response = await fetchAllowed(address, init)
      isAnswered = true
      return response
    } catch (error) {
      if (error instanceof DaybookError) throw error
      // A wrong address looks like a restarting service. Only the user knows which it is.
      if (!isAnswered && !isReported && !context.stop.aborted)
        printNotice(context, `no answer from ${base.host} yet`)
      isReported = true
      throw error
    }
  }
}

/** `fetch` that immediately refuses a forbidden port, which it would otherwise retry in vain. */
export const fetchAllowed: Surroundings['fetch'] = async (address, init) => {
  try {
    return await SURROUNDINGS.fetch(address, init)
  } catch (error) {
    if (!isForbidden(error)) throw error
    const { port } = new URL(address)
    const message = `web clients are not allowed to use port ${port}: the service needs another port`
    throw new DaybookError('unexpected-answer', message)
  }
}

/** Whether the Fetch standard blocks the port. Nothing was sent then. */
function isForbidden(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error && error.cause.message === 'bad port'
}

/**
 * `CommandError` for an error of the client: bad usage (2) when the service refuses the request with 400, failed (1)
 * otherwise. Any other error is returned unchanged.
 */
export function asCommandError(error: unknown): unknown {
  if (!(error instanceof DaybookError)) return error
  const faults = error.errors.map(({ parameter, message, allowed = [] }) =>
    printable(`${parameter}: ${message}${allowed.length === 0 ? '' : ` (${allowed.join(', ')})`}`),
  )
  // The summary repeats the details with less precision.
  const message = faults.length > 0 ? faults.join('; ') : printable(error.message)
  const reason = error.cause instanceof Error ? causeOf(error.cause) : ''
  const Kind = error.status === 400 ? UsageError : CommandError
  return new Kind(`${message}${reason}`, { cause: error })
}

/** Innermost reason of a failed connection, in brackets; empty when there is none. */
export function causeOf(error: Error): string {
  let inner = error
  while (inner.cause instanceof Error) inner = inner.cause
  // One error for each address of a host.
  const { message } = inner instanceof AggregateError ? (inner.errors[0] ?? inner) : inner
  return message === '' ? '' : ` (${printable(message)})`
}

/** Runs `work`, which calls the service. Errors of the client become errors of the command. */
export async function withCommandErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asCommandError(error)
  }
}
