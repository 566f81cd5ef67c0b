import type { LogLines } from '../log-lines/log-lines.ts'
import type { Service, ServiceSettings } from '../service/service.ts'
import { namesNoSite } from './log-options.ts'
import { runToEnd } from './node-ending.ts'
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
    head: service.reader.head().seq,
    ms: Math.round(world.monotonicMs() - beganMs),
  })
  const { origin, simulated } = service.reader.identity
  if (!simulated && namesNoSite(origin)) lines.say('development', { of: origin })
  return await runToEnd(service, { world, lines, drainMs: settings.drainMs }, (stop) =>
    meanwhile(service, stop).catch((error: unknown) => {
      throw new Error(`the simulator failed: ${String(error)}`, { cause: error })
    }),
  )
}
