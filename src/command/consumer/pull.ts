import { existsSync, readdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Answer } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import type { Daybook } from '../../client/daybook.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import { parseMonth } from '../../protocol/moment.ts'
import type { ArchiveIndex, ArchiveManifest, ArchiveMonth } from '../../protocol/resources.ts'
import { askedAgain, askedCovering } from '../../verify/reading/node-lag.ts'
import { asCommandError, openClient, pauseOf } from '../terminal/client.ts'
import { asPathError, checkFolder, makeFolder } from '../terminal/option-paths.ts'
import { openProgress } from '../terminal/progress.ts'
import { type ExpectedFile, isIntact, pullFile } from './pull-file.ts'
import type { MonthRange } from './time-options.ts'
import { CommandError, type ExitCode, tell, type World } from '../terminal/world.ts'
import { formatCount } from '../../protocol/amount.ts'

type PullSettings = Readonly<{ url: string; months: MonthRange; to: string }>

/** Counts of a run: files that were downloaded, files that were already right, bytes downloaded. */
type PullCounts = { downloaded: number; intact: number; bytes: number }

/**
 * Downloads the files of months, their manifests and digests, the keys of the log, a checkpoint that covers them and that of
 * the witnesses. The folder has the paths below `/api/v1/`. Files that are already right are not downloaded again.
 */
export async function pull(settings: PullSettings, world: World): Promise<ExitCode> {
  const daybook = openClient(settings.url, world)
  for (const folder of ['archive', 'log']) checkFolder(join(settings.to, folder), '--to')
  const counts: PullCounts = { downloaded: 0, intact: 0, bytes: 0 }
  try {
    const months = await pullAll(daybook, settings, counts, world)
    const { downloaded, intact, bytes } = counts
    const [first, last] = [months[0]?.month, months.at(-1)?.month]
    tell(world, months.length === 1 ? `1 month: ${first}` : `${months.length} months: ${first} to ${last}`)
    tell(
      world,
      `${formatCount(downloaded, 'file')} downloaded (${formatCount(bytes, 'byte')}), ${intact} already complete`,
    )
    if (months.at(-1)?.state === 'open')
      tell(world, `${months.at(-1)?.month} is not over: its files end at the present head`)
    return 0
  } catch (error) {
    if (!world.stop.aborted) throw asPathError(asCommandError(error), '--to')
    throw new CommandError(1, 'stopped; repeat the command to continue', { cause: error })
  }
}

async function pullAll(
  daybook: Daybook,
  { months: range, to }: PullSettings,
  counts: PullCounts,
  world: World,
): Promise<readonly ArchiveMonth[]> {
  const { ask } = daybook
  // Each answer may come from another node. The checkpoint covers what the witnesses vouch for.
  const witnessed = await pullWitnessed(daybook, world)
  const newest = await getCovering(daybook, endpointPath('logCheckpoint', ''), headOf(witnessed), world)
  // The files contain every event that it signs.
  const size = headOf(newest)
  const keys = (await getCovering(daybook, endpointPath('logKeys', ''), size, world)).bytes()
  const listed = await getCovering(daybook, endpointPath('archive', ''), size, world)
  const months = monthsOf(listed.json(), range)
  const progress = openProgress('pulling', 'bytes', world)
  const archive = join(to, 'archive')
  for (const folder of [archive, join(to, 'log')]) makeFolder(folder, '--to')
  try {
    let total = 0
    const onBytes = (bytes: number): void => {
      counts.bytes += bytes
      progress.at(counts.bytes, Math.max(total, counts.bytes))
    }
    let manifest: ArchiveManifest | null = null
    total = months.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
    for (const { month, state } of months) {
      manifest = state === 'closed' ? await pullManifest(daybook, month, archive, size, world) : null
      // A month is closed where a node has the event after it.
      const covers = manifest === null ? size : manifest.size + 1
      const files: readonly (readonly [name: string, expected: ExpectedFile])[] = [
        [`${month}.jsonl.gz`, manifest?.gzip ?? null],
        [`${month}.details.jsonl.gz`, manifest?.details ?? null],
      ]
      for (const [name, expected] of files) {
        const file = join(archive, name)
        if (expected !== null && (await isIntact(file, expected))) {
          counts.intact += 1
          continue
        }
        const path = endpointPath('archiveFile', name)
        await pullFile(ask, { path, file, expected, covers }, world, onBytes)
        counts.downloaded += 1
      }
    }
    await pullSums(daybook, months, archive, world)
    await replace(join(to, 'log', 'keys'), keys)
    const isLatest = monthsIn(archive).at(-1) === months.at(-1)?.month
    if (isLatest) {
      // Without the open month, the files end where the checkpoint of the last manifest does.
      const checkpoint = manifest === null ? newest.bytes() : Buffer.from(manifest.checkpoint)
      await replace(join(to, 'log', 'checkpoint'), checkpoint)
      // The files reach the tree that the witnesses have seen only when they have the open month.
      if (manifest === null && witnessed !== null)
        await replace(join(to, 'log', 'checkpoint.witnessed'), witnessed.bytes())
    }
  } finally {
    progress.end()
  }
  return months
}

/** Months of the list that are in the range, at least one. */
function monthsOf({ months: all }: ArchiveIndex, range: MonthRange): readonly ArchiveMonth[] {
  const months = all.filter(
    ({ month }) => (range.from ?? month) <= month && month <= (range.to ?? month) && isMonth(month),
  )
  if (months.length > 0) return months
  const [first, last] = [all[0]?.month, all.at(-1)?.month]
  throw new CommandError(
    2,
    first === undefined
      ? 'the archive has no months yet'
      : `the archive has no such month; it has ${first} to ${last}`,
  )
}

/** Whether a name from the service is a month, and so safe as the name of a file. */
function isMonth(month: string): boolean {
  return parseMonth(month) !== undefined
}

/** The newest checkpoint with cosignatures of witnesses; null when the log has none. */
async function pullWitnessed({ ask }: Daybook, { stop }: World): Promise<Answer | null> {
  try {
    return await ask.get(endpointPath('logWitnessedCheckpoint', ''), { signal: stop })
  } catch (error) {
    if (error instanceof DaybookError && error.status === 404) return null
    throw error
  }
}

/** Answer that counts the event `covers`. Asks again for a few seconds while a node is behind it. */
function getCovering({ ask }: Daybook, path: string, covers: number, { stop }: World): Promise<Answer> {
  return askedCovering(pauseOf(stop), path, covers, () => ask.get(path, { signal: stop }))
}

/** Events that an answer of the log counts; 0 without one. */
function headOf(answer: Answer | null): number {
  return Number(answer?.headers.get('daybook-seq') ?? 0)
}

async function pullManifest(
  daybook: Daybook,
  month: string,
  archive: string,
  size: number,
  world: World,
): Promise<ArchiveManifest> {
  const name = `${month}.json`
  const answer = await getCovering(daybook, endpointPath('archiveFile', name), size, world)
  const manifest: ArchiveManifest = answer.json()
  await replace(join(archive, name), answer.bytes())
  return manifest
}

/** Writes `SHA256SUMS` with the digests of the closed files in the folder only, so that `sha256sum -c` misses none. */
async function pullSums(
  { ask }: Daybook,
  months: readonly ArchiveMonth[],
  archive: string,
  { stop }: World,
): Promise<void> {
  const path = endpointPath('archiveFile', 'SHA256SUMS')
  const lacking = (text: string): string | undefined =>
    months.find(({ month, state }) => state === 'closed' && !text.includes(`  ${month}.jsonl.gz\n`))?.month
  const sums = await askedAgain(
    pauseOf(stop),
    async () => (await ask.get(path, { signal: stop })).text(),
    (text) => lacking(text) !== undefined,
  )
  const lacks = lacking(sums)
  if (lacks !== undefined)
    throw new CommandError(1, `the node that answered is behind: ${path} lacks ${lacks}; try again later`)
  const here = sums.split(/(?<=\n)/).filter((line) => {
    const name = /^[0-9a-f]{64} {2}(\d{4}-\d{2}\.(?:details\.)?jsonl\.gz)\n$/.exec(line)?.[1]
    return (
      name !== undefined && existsSync(join(archive, name)) && existsSync(join(archive, manifestOf(name)))
    )
  })
  await replace(join(archive, 'SHA256SUMS'), Buffer.from(here.join('')))
}

const manifestOf = (name: string): string => `${name.slice(0, 7)}.json`

function monthsIn(archive: string): readonly string[] {
  return readdirSync(archive)
    .flatMap((name) => /^(\d{4}-\d{2})\.jsonl\.gz$/.exec(name)?.[1] ?? [])
    .toSorted()
}

async function replace(file: string, bytes: Uint8Array): Promise<void> {
  await writeFile(`${file}.part`, bytes)
  await rename(`${file}.part`, file)
}
