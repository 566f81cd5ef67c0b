import { type Diagnosis, printDiagnoses } from './diagnosis.ts'
import { backupsDiagnosis } from './doctor-backup.ts'
import { diagnoseDirectory } from './doctor-directory.ts'
import { withCommandErrors } from '../terminal/client.ts'
import { diagnoseUrl } from './doctor-url.ts'
import { CommandError, type ExitCode, type World } from '../terminal/world.ts'

type DoctorSettings = Readonly<{
  data: string | null
  url: string | null
  backups: string | null
  keyFiles: readonly string[] | null
  streamsMax: number
  waitMs: number
  /** Age from which a held draft needs the operator. */
  overdueMs: number
}>

/** Examines a data directory, its backups and a service as its readers see it, and prints a line for each check. */
export async function doctor(settings: DoctorSettings, world: World): Promise<ExitCode> {
  const { data, url, backups } = settings
  if (data === null && url === null && backups === null)
    throw new CommandError(2, 'doctor needs --data, --url or --backups')
  const found: Diagnosis[] = []
  if (data !== null) found.push(...diagnoseDirectory({ ...settings, data }, world))
  else if (backups !== null) found.push(...backupsDiagnosis(backups, null, world))
  try {
    if (url !== null) await withCommandErrors(() => addFindings(found, diagnoseUrl(url, settings, world)))
  } catch (error) {
    throw world.stop.aborted ? new CommandError(1, 'stopped', { cause: error }) : error
  } finally {
    // A later check that fails takes nothing from what the others have found.
    printDiagnoses(found, world)
  }
  return found.some(({ is }) => is === 'wrong') ? 1 : 0
}

async function addFindings(found: Diagnosis[], more: AsyncIterable<Diagnosis>): Promise<void> {
  for await (const one of more) found.push(one)
}
