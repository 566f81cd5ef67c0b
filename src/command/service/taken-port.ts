import { once } from 'node:events'
import { createServer } from 'node:net'
import { CommandError } from '../terminal/command-error.ts'
import { hostInUrl } from '../terminal/log-address.ts'

type PortOption = '--port' | '--publish-port' | '--ops-port' | '--witness-port'

/** Listens for a moment, to detect a taken port before long work. Throws as `orTaken`. */
export async function demandFreePort(option: PortOption, host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host)
  await orTaken(option, once(server, 'listening'))
  server.close()
  await once(server, 'close')
}

/** Waits for a listener. If another program has the port, the error names the option that chooses another. */
export async function orTaken<T>(option: PortOption, listening: Promise<T>): Promise<T> {
  try {
    return await listening
  } catch (error) {
    const place = placeTaken(error)
    if (place === undefined) throw error
    const message = `another program listens on ${place}: stop it, or choose another port with ${option}`
    throw new CommandError(message, { cause: error })
  }
}

/** Taken host and port; undefined for any other failure. */
function placeTaken(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return undefined
  if (!('address' in error && 'port' in error)) return undefined
  return `${hostInUrl(String(error.address))}:${String(error.port)}`
}
