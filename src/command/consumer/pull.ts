import { existsSync, readdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Daybook } from '../../client/daybook.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import { parseMonth } from '../../protocol/moment.ts'
import type { ArchiveManifest, ArchiveMonth } from '../../protocol/resources.ts'
import { asCommandError, openClient } from '../terminal/client.ts'
import { asPathError, checkFolder, makeFolder } from '../terminal/given-paths.ts'
import { openProgress } from '../terminal/progress.ts'
import type { Expected } from './pull-file.ts'
import { isIntact, pullFile } from './pull-file.ts'
import type { MonthRange } from './time-options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

type PullSettings = Readonly<{ url: string; months: MonthRange; to: string }>

/** What a run did with files. */
type Tally = { came: number; there: number; bytes: number }

/**
 * Fetches the files of months, their manifests and digests, the log's keys and a checkpoint that covers them, into a
 * folder laid out as the paths below `/api/v1/`. What is there and right is not fetched again.
 */
export async function pull(settings: PullSettings, world: World): Promise<ExitCode> {
  const daybook = openClient(settings.url, world)
  for (const folder of ['archive', 'log']) checkFolder(join(settings.to, folder), '--to')
  const tally: Tally = { came: 0, there: 0, bytes: 0 }
  try {
    const months = await pullAll(daybook, settings, tally, world)
    const { came, there, bytes } = tally
    const [first, last] = [months[0]?.month, months.at(-1)?.month]
    tell(world, months.length === 1 ? `1 month: ${first}` : `${months.length} months: ${first} to ${last}`)
    tell(world, `${came} files came (${bytes} bytes), ${there} were there and right`)
    if (months.at(-1)?.state === 'open')
      tell(world, `${months.at(-1)?.month} is open: it ends at the head of now`)
    return 0
  } catch (error) {
    if (!world.stop.aborted) throw asPathError(asCommandError(error), '--to')
    throw new CommandError(1, 'stopped: the same command goes on from there', { cause: error })
  }
}

async function pullAll(
  daybook: Daybook,
  { months: range, to }: PullSettings,
  tally: Tally,
  world: World,
): Promise<readonly ArchiveMonth[]> {
  const signal = world.stop
  const { ask } = daybook
  // Before the files, which then hold everything that it signs.
  const newest = (await ask.get(endpointPath('logCheckpoint', ''), { signal })).bytes()
  const keys = (await ask.get(endpointPath('logKeys', ''), { signal })).bytes()
  const { months: all } = await daybook.archive({ signal })
  const months = all.filter(
    ({ month }) => (range.from ?? month) <= month && month <= (range.to ?? month) && isMonth(month),
  )
  if (months.length === 0) {
    const [first, last] = [all[0]?.month, all.at(-1)?.month]
    throw new CommandError(
      2,
      first === undefined ? 'the archive is empty' : `the archive has ${first} to ${last}`,
    )
  }
  const progress = openProgress('pulling', 'bytes', world)
  const archive = join(to, 'archive')
  for (const folder of [archive, join(to, 'log')]) makeFolder(folder, '--to')
  try {
    let total = 0
    const came = (bytes: number): void => {
      tally.bytes += bytes
      progress.at(tally.bytes, Math.max(total, tally.bytes))
    }
    let manifest: ArchiveManifest | null = null
    total = months.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
    for (const { month, state } of months) {
      manifest = state === 'closed' ? await pullManifest(daybook, month, archive, world) : null
      // Details after events: those of an open month may be more than its events, and never fewer.
      const files: readonly (readonly [name: string, expected: Expected])[] = [
        [`${month}.jsonl.gz`, manifest?.gzip ?? null],
        [`${month}.details.jsonl.gz`, manifest?.details ?? null],
      ]
      for (const [name, expected] of files) {
        const file = join(archive, name)
        if (expected !== null && (await isIntact(file, expected))) {
          tally.there += 1
          continue
        }
        await pullFile(ask, endpointPath('archiveFile', name), file, expected, world, came)
        tally.came += 1
      }
    }
    await pullSums(daybook, archive, world)
    await replace(join(to, 'log', 'keys'), keys)
    const isLatest = monthsIn(archive).at(-1) === months.at(-1)?.month
    if (isLatest) {
      // Without the open month, the checkpoint of the last month's end is the one that covers the files.
      const checkpoint = manifest === null ? newest : Buffer.from(manifest.checkpoint)
      await replace(join(to, 'log', 'checkpoint'), checkpoint)
    }
  } finally {
    progress.end()
  }
  return months
}

/** A service names its months itself: only what is one becomes the name of a file. */
function isMonth(month: string): boolean {
  return parseMonth(month) !== undefined
}

async function pullManifest(
  { ask }: Daybook,
  month: string,
  archive: string,
  { stop }: World,
): Promise<ArchiveManifest> {
  const name = `${month}.json`
  const answer = await ask.get(endpointPath('archiveFile', name), { signal: stop })
  const manifest: ArchiveManifest = answer.json()
  await replace(join(archive, name), answer.bytes())
  return manifest
}

/** The digests of the closed files that are here, so that `sha256sum -c` looks for no other. */
async function pullSums({ ask }: Daybook, archive: string, { stop }: World): Promise<void> {
  const sums = (await ask.get(endpointPath('archiveFile', 'SHA256SUMS'), { signal: stop })).text()
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
