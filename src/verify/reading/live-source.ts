import type { Ask } from '../../client/ask.ts'
import { readBytes } from '../../client/body.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { openSameLog } from '../../client/event-pages.ts'
import { WrongError } from './finding.ts'
import { askedCovering } from './node-lag.ts'
import { FILE_BYTES_MAX, type Source } from './source.ts'

/** Most requests of a file whose body breaks off. */
const FILE_ATTEMPTS_MAX = 4

/**
 * Source that reads from a service, below its rate limit and with retries. Throws `another-log` when two answers name
 * different logs.
 */
export function openLiveSource(
  ask: Ask,
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Source {
  const sameLog = openSameLog()
  const pause = (ms: number): Promise<void> => sleep(ms, signal)

  async function read(path: string, covers = 0): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { stream } = await askedCovering(pause, path, covers, async () => {
          const answer = await ask.open(`/api/v1/${path}`, { signal })
          sameLog(answer.headers)
          return answer
        })
        return await readBytes(stream, FILE_BYTES_MAX)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof DaybookError)) throw error
        const { status, code } = error
        if (status === 404) return undefined
        // A node that lacks an event says nothing about the log.
        if (code === 'behind') throw error
        if (status >= 400 && status !== 429)
          throw new WrongError(path, `is answered with status ${status}`, { cause: error })
        // The client has already retried failures before the body. Only a body that broke off is requested again here.
        const broke = /^(?:unreachable|timeout)$/.test(code)
        if (!broke || attempt >= FILE_ATTEMPTS_MAX) throw error
      }
    }
  }
  return { is: 'service', read, months: () => Promise.resolve([]), pause }
}
