import type { Diagnosis } from './diagnosis.ts'
import { diagnoseDirectory } from './doctor-directory.ts'
import { withCommandErrors } from '../terminal/client.ts'
import { diagnoseUrl } from './doctor-url.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

type DoctorSettings = Readonly<{
  data: string | null
  url: string | null
  keyFiles: readonly string[] | null
  streamsMax: number
  waitMs: number
}>

/** Examines a data directory, a service as its readers see it, or both, and prints a line for each check. */
export async function doctor(settings: DoctorSettings, world: World): Promise<ExitCode> {
  const { data, url } = settings
  if (data === null && url === null) throw new CommandError(2, 'doctor needs --data, --url, or both')
  const found: Diagnosis[] = []
  if (data !== null) found.push(...diagnoseDirectory({ ...settings, data }, world))
  if (url !== null)
    found.push(
      ...(await withCommandErrors(() => diagnoseUrl(url, settings.waitMs, world)).catch(stopped(world))),
    )
  const width = Math.max(...found.map(({ what }) => what.length))
  for (const { is, what, says } of found) {
    world.stdout.write(`${is.padEnd(5)}  ${what.padEnd(width)}  ${says}\n`)
  }
  return found.some(({ is }) => is === 'wrong') ? 1 : 0
}

function stopped(world: World): (error: unknown) => never {
  return (error) => {
    throw world.stop.aborted ? new CommandError(1, 'stopped', { cause: error }) : error
  }
}
