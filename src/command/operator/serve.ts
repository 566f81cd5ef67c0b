import type { LogLines } from '../log-lines/log-lines.ts'
import type { Service, ServiceSettings } from '../service/service.ts'
import { namesNoSite } from './log-options.ts'
import { hostInUrl } from '../terminal/host-in-url.ts'
import type { ExitCode, World } from '../terminal/world.ts'

/** Serves until a signal stops it or the store fails. `meanwhile` runs at the same time (the simulator). */
export async function serve(
  settings: ServiceSettings,
  world: World,
  lines: LogLines,
  meanwhile: (service: Service, stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  const beganMs = world.monotonicMs()
  // The modules of the service take most of the time that a command needs to start: only this one waits for them.
  const { startService } = await import('../service/service.ts')
  const service = await startService(settings, world, lines)
  const { port, publishPort } = service
  lines.say('ready', {
    url: `http://${hostInUrl(settings.host)}:${port}`,
    door: `http://${hostInUrl(settings.publishHost)}:${publishPort}`,
    port,
    publishPort,
    head: service.reader.head().seq,
    ms: Math.round(world.monotonicMs() - beganMs),
  })
  const { origin, simulated } = service.reader.identity
  if (!simulated && namesNoSite(origin)) lines.say('development', { of: origin })
  const ended = new AbortController()
  const publishing = meanwhile(service, ended.signal)
  const failed = publishing.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => `the simulator failed: ${String(error)}`,
  )
  const reason = await Promise.race([stopped(world.stop), service.broken, failed])
  const stoppedMs = world.monotonicMs()
  ended.abort()
  await publishing.catch(() => undefined)
  if (reason === undefined) lines.say('stopping', { drainMs: settings.drainMs })
  else lines.say('broken', { reason })
  await service[Symbol.asyncDispose]()
  lines.flush()
  lines.say('stopped', { ms: Math.round(world.monotonicMs() - stoppedMs) })
  return reason === undefined ? 0 : 1
}

function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
