import type { Ask } from '../../client/ask.ts'
import { type ByteStream, readBytes } from '../../client/body.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { openSameLog } from '../../client/event-pages.ts'
import { WrongError } from './finding.ts'
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
        // The client has already retried failures before the body. Only an interrupted body is requested again here.
        const broke = /^(?:unreachable|timeout)$/.test(code)
        if (!broke || attempt >= FILE_ATTEMPTS_MAX) throw error
      }
    }
  }
  return { is: 'service', read, months: () => Promise.resolve([]), pause }
}

/** Most requests for an answer that may come from a node that is behind, and the wait between them. */
export const LAG_ATTEMPTS = 5
export const LAG_MS = 1_000

type Pause = (ms: number) => Promise<void>

/**
 * Repeats a request about every second while the answer comes from a node that is behind. Returns the last answer
 * unchanged.
 */
export async function askedAgain<Answer>(
  pause: Pause,
  ask: () => Promise<Answer>,
  isBehind: (answer: Answer) => boolean,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask()
    if (attempt >= LAG_ATTEMPTS || !isBehind(answer)) return answer
    await pause(LAG_MS)
  }
}

type Headed = Readonly<{ headers: Headers; stream?: ByteStream }>

/**
 * Answer that counts the event `covers`, which another node has shown. Asks again while a node is behind it, or lacks
 * the path (404). Throws `behind` when the service stays behind, and the 404 when it stays missing. With 0 it asks
 * once.
 */
export async function askedCovering<Answer extends Headed>(
  pause: Pause,
  path: string,
  covers: number,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const found = await askedAgain(
    pause,
    async () => {
      try {
        const answer = await ask()
        const head = headIn(answer.headers)
        // The body may be a large file, which nobody needs from a node that is behind.
        if (head < covers) await answer.stream?.cancel()
        return { answer, head }
      } catch (error) {
        if (covers > 0 && error instanceof DaybookError && error.status === 404) return { error, head: 0 }
        throw error
      }
    },
    ({ head }) => head < covers,
  )
  if ('error' in found) throw found.error
  if (found.head < covers) throw nodeBehind(path, found.head, covers)
  return found.answer
}

/** Head that an answer counts. For an immutable answer it is infinite. */
function headIn(headers: Headers): number {
  const mayChange = /\bmust-revalidate\b/.test(headers.get('cache-control') ?? '')
  return mayChange ? Number(headers.get('daybook-seq') ?? Infinity) : Infinity
}

/** Error for a service whose nodes do not agree within the reader's timeout. It says nothing against the log. */
export function nodeBehind(path: string, head: number, covers: number): DaybookError {
  const message = `the node that answered is behind: ${path} ends with seq ${head}, and another node has shown seq ${covers}; try again later`
  return new DaybookError('behind', message)
}
