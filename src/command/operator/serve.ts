import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { TOKEN_BYTES_MIN } from '../../publish/door/token-guard.ts'
import { readStart } from '../terminal/option-paths.ts'
import type { Service, ServiceSettings } from '../service/service.ts'
import { startService } from '../service/service.ts'
import { hostInUrl } from '../terminal/host-in-url.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

/** The file in the data directory that holds a token made at the first start. */
export const TOKEN_FILE = 'publish-token'
/** Bytes that are read of a file with tokens. */
const TOKEN_FILE_BYTES_MAX = 4_096

/**
 * The tokens that open the publish door: the lines of `file`, at most two (the present one and the next, while
 * they are changed). Without a file, one is made in the data directory at the first start.
 */
export function readTokens(file: string | null, data: string): readonly string[] {
  const path = file ?? join(data, TOKEN_FILE)
  if (file === null && !existsSync(path)) {
    mkdirSync(data, { recursive: true })
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(path, 0o600)
  }
  let text: string
  try {
    text = readStart(path, TOKEN_FILE_BYTES_MAX)
  } catch (cause) {
    throw new CommandError(2, `the token file ${path} cannot be read`, { cause })
  }
  const tokens = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (tokens.length < 1 || tokens.length > 2) {
    throw new CommandError(
      2,
      `the token file ${path} holds ${tokens.length} tokens: one, or two while they change`,
    )
  }
  for (const token of tokens) {
    if (Buffer.byteLength(token) < TOKEN_BYTES_MIN) {
      throw new CommandError(2, `a token in ${path} is shorter than ${TOKEN_BYTES_MIN} bytes`)
    }
  }
  return tokens
}

/** Serves until it is told to stop, or until the store fails. `meanwhile` runs beside it (the simulator). */
export async function serve(
  settings: ServiceSettings,
  world: World,
  log: Logger,
  meanwhile: (service: Service, stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  await using service = await startService(settings, world, log)
  tell(world, `listening on http://${hostInUrl(settings.host)}:${service.port}`)
  tell(world, `publish door on http://${hostInUrl(settings.publishHost)}:${service.publishPort}`)
  const ended = new AbortController()
  const beside = meanwhile(service, ended.signal)
  const failed = beside.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => `what publishes beside the service failed: ${String(error)}`,
  )
  const reason = await Promise.race([stopped(world.stop), service.broken, failed])
  ended.abort()
  await beside.catch(() => undefined)
  if (reason === undefined) {
    tell(world, 'stopping')
    return 0
  }
  log.fatal(reason)
  return 1
}

function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
