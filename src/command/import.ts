import type { NewLog } from '../log/store.ts'
import { importFiles } from '../publish/import.ts'
import { openProgress } from './progress.ts'
import type { ExitCode, World } from './world.ts'
import { tell } from './world.ts'

export type ImportSettings = Readonly<{
  files: readonly string[]
  data: string
  newLog: NewLog
  balances: 'refuse' | 'report'
}>

/** Loads history into a data directory that nobody serves: all of it or nothing. */
export async function runImport(settings: ImportSettings, world: World): Promise<ExitCode> {
  const progress = openProgress('importing', 'bytes', world)
  const outcome = await importFiles({
    files: settings.files,
    dataDirectory: settings.data,
    newLog: settings.newLog,
    balances: settings.balances,
    now: world.now(),
    signal: world.stop,
    onProgress: ({ bytes, bytesTotal, drafts }) => progress.at(bytes, bytesTotal, ` | ${drafts} drafts`),
  })
  progress.end()
  if (!outcome.ok) {
    const { file, line, field, reason } = outcome.refusal
    tell(world, `${file}, line ${line}, ${field}: ${reason}`)
    tell(world, 'nothing was imported')
    return 1
  }
  const { events, duplicates, seconds } = outcome.report
  const already = duplicates === 0 ? '' : `, ${duplicates} were there already`
  tell(world, `${events} events imported in ${seconds.toFixed(1)} s${already}`)
  return 0
}
