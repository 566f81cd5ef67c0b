import type { Logger } from 'pino'
import type { Service, ServiceSettings } from '../service/service.ts'
import { startService } from '../service/service.ts'
import { namesNoSite } from './log-options.ts'
import { hostInUrl } from '../terminal/host-in-url.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { tell } from '../terminal/world.ts'

/** Serves until a signal stops it or the store fails. `meanwhile` runs at the same time (the simulator). */
export async function serve(
  settings: ServiceSettings,
  world: World,
  log: Logger,
  meanwhile: (service: Service, stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  await using service = await startService(settings, world, log)
  tell(world, `listening on http://${hostInUrl(settings.host)}:${service.port}`)
  tell(world, `publish door on http://${hostInUrl(settings.publishHost)}:${service.publishPort}`)
  const { origin, simulated } = service.reader.identity
  if (!simulated && namesNoSite(origin)) tell(world, `${origin} is a log for development: never publish it`)
  const ended = new AbortController()
  const publishing = meanwhile(service, ended.signal)
  const failed = publishing.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => `the simulator failed: ${String(error)}`,
  )
  const reason = await Promise.race([stopped(world.stop), service.broken, failed])
  ended.abort()
  await publishing.catch(() => undefined)
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
