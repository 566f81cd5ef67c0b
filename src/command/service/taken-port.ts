import { CommandError } from '../terminal/world.ts'

/** Waits for a listener; of a port that another program has it says which option chooses another. */
export async function orTaken<T>(option: '--port' | '--publish-port', listening: Promise<T>): Promise<T> {
  try {
    return await listening
  } catch (error) {
    const place = placeTaken(error)
    if (place === undefined) throw error
    const message = `another program listens on ${place}: stop it, or choose another port with ${option}`
    throw new CommandError(1, message, { cause: error })
  }
}

/** The address that is taken, as it stands in a URL; undefined for any other failure. */
function placeTaken(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return undefined
  if (!('address' in error && 'port' in error)) return undefined
  const host = String(error.address)
  return `${host.includes(':') ? `[${host}]` : host}:${String(error.port)}`
}
