import { DaybookError } from '../../client/daybook-error.ts'
import type { Daybook } from '../../client/daybook.ts'
import { openDaybook } from '../../client/daybook.ts'
import type { Surroundings } from '../../client/surroundings.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import { readAddress } from './log-address.ts'
import { harmless } from './output.ts'
import { VERSION } from './version.ts'
import type { World } from './world.ts'
import { CommandError, tell } from './world.ts'

/** Opens the client of the service at an address that the user gave. */
export function openClient(url: string, world: World): Daybook {
  const base = readAddress(url)
  return openDaybook({
    base,
    fetch: fetchTelling(base, world),
    sleep: SURROUNDINGS.sleep,
    now: world.monotonicMs,
    random: world.random,
    headers: { 'User-Agent': `daybook/${VERSION}` },
  })
}

/** A `fetch` that says once when nobody has answered yet, since what asks by it tries again for a while. */
export function fetchTelling(base: URL, world: World): Surroundings['fetch'] {
  let isAnswered = false
  let isTold = false
  return async (address, init) => {
    try {
      const response = await SURROUNDINGS.fetch(address, init)
      isAnswered = true
      return response
    } catch (error) {
      if (isForbidden(error)) {
        const message = `port ${base.port} is one that no web client asks: the service has to be at another`
        throw new DaybookError('unexpected-answer', message)
      }
      // A wrong address looks like a service that starts again: the person who waits knows which it is.
      if (!isAnswered && !isTold && !world.stop.aborted) tell(world, `no answer from ${base.host} yet`)
      isTold = true
      throw error
    }
  }
}

/** Whether a port is one of those that the Fetch standard keeps clients from, which says nothing of who is there. */
function isForbidden(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error && error.cause.message === 'bad port'
}

/**
 * What is thrown to the person at the terminal: what the service refuses is a wrong use, what it cannot give has
 * failed. Anything that is no error of the client passes as it came.
 */
export function asCommandError(error: unknown): unknown {
  if (!(error instanceof DaybookError)) return error
  const faults = error.errors.map(({ parameter, message, allowed = [] }) =>
    harmless(`${parameter}: ${message}${allowed.length === 0 ? '' : ` (${allowed.join(', ')})`}`),
  )
  // What is refused in detail is told in detail alone: the summary says the same with less.
  const said = faults.length > 0 ? faults.join('; ') : harmless(error.message)
  const reason = error.cause instanceof Error ? causeOf(error.cause) : ''
  return new CommandError(error.status === 400 ? 2 : 1, `${said}${reason}`, { cause: error })
}

function causeOf(cause: Error): string {
  const inner = cause.cause instanceof Error ? cause.cause : cause
  return inner.message === '' ? '' : ` (${harmless(inner.message)})`
}

/** Runs what asks the service; its errors become those of a command. */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asCommandError(error)
  }
}
