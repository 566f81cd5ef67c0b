import { hostInUrl } from '../terminal/host-in-url.ts'
import { CommandError } from '../terminal/world.ts'

/** Waits for a listener. When another program has the port, the error names the option that chooses another port. */
export async function orTaken<T>(
  option: '--port' | '--publish-port' | '--ops-port',
  listening: Promise<T>,
): Promise<T> {
  try {
    return await listening
  } catch (error) {
    const place = placeTaken(error)
    if (place === undefined) throw error
    const message = `another program listens on ${place}: stop it, or choose another port with ${option}`
    throw new CommandError(1, message, { cause: error })
  }
}

/** Host and port that are taken; undefined for any other failure. */
function placeTaken(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return undefined
  if (!('address' in error && 'port' in error)) return undefined
  return `${hostInUrl(String(error.address))}:${String(error.port)}`
}
