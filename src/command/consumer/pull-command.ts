import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument } from 'commander'
import { type Answer, type Ask, ATTEMPTS_MAX, type OpenAnswer, waitMsAfter } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import type { Daybook } from '../../client/daybook.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import { formatCount } from '../../protocol/amount.ts'
import { parseMonth } from '../../protocol/moment.ts'
import type { ArchiveIndex, ArchiveManifest, ArchiveMonth } from '../../protocol/endpoints/file-endpoints.ts'
import { asCommandError, openClient, pauseOf } from '../terminal/client.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { asPathError, checkFolder, makeFolder } from '../terminal/option-paths.ts'
import { collectVkeys, optionOf, URL_ARGUMENT } from '../terminal/options.ts'
import { openProgress } from '../terminal/progress.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { askedAgain, askedCovering } from '../../verify/reading/live-source.ts'
import { isBookPath } from '../book/book-file.ts'
import { pullBook } from '../book/pull-book.ts'
import { type MonthRange, monthRange } from './event-options.ts'

type PullSettings = Readonly<{ url: string; months: MonthRange; to: string }>

/** The command `pull`. */
export function pullCommand({ context }: ProgramContext): CommandSpec {
  const months = new Argument('[months]', 'such as 2026-09, 2026-01..2026-09 or 2026-01..')
  const to = optionOf('pull')(
    '--to <path>',
    'folder for the files, with the paths of the service, or a file .sqlite or .db for the whole log; required',
  )
  return {
    name: 'pull',
    description:
      'download the files of months with their digests, or the whole log as SQLite; continues after an interruption',
    arguments: [URL_ARGUMENT, months.argParser(monthRange).default(EVERY_MONTH, 'every month')],
    options: [
      to.makeOptionMandatory(),
      optionOf('pull')('--key <vkey>', 'verifier key from a source other than the service; for a file')
        .argParser(collectVkeys)
        .default([], 'the key kept in the file, else the key that the service lists'),
    ],
    help: `Examples:
  daybook pull https://data.example.org 2026-01..2026-09 --to copy
  (cd copy/archive && sha256sum -c SHA256SUMS); daybook verify copy
  daybook pull https://data.example.org --to book.sqlite
  sqlite3 book.sqlite "SELECT title, status, prizesNotRedeemed FROM contests"`,
    run: (url: string, range: MonthRange, { to: path, key }: PullOptions) => {
      if (!isBookPath(path)) {
        if (key.length > 0) throw new UsageError('--key is for a file .sqlite or .db: verify checks a folder')
        return pull({ url, months: range, to: path }, context)
      }
      if (range !== EVERY_MONTH)
        throw new UsageError('a file .sqlite or .db has the whole log: leave the months out')
      return pullBook({ url, to: path, keys: key }, context)
    },
  }
}

const EVERY_MONTH: MonthRange = { from: null, to: null }

type PullOptions = Readonly<{ to: string; key: readonly string[] }>

/** Counts of a run: downloaded files, intact files, downloaded bytes. */
type PullCounts = { downloaded: number; intact: number; bytes: number }

/**
 * Downloads month files, their manifests and digests, the keys of the log, a checkpoint that covers them, and the
 * witnessed one. The folder has the paths below `/api/v1/`. Intact files are not downloaded again.
 */
async function pull(settings: PullSettings, context: CommandContext): Promise<ExitCode> {
  const daybook = openClient(settings.url, context)
  for (const folder of ['archive', 'log']) checkFolder(join(settings.to, folder), '--to')
  const counts: PullCounts = { downloaded: 0, intact: 0, bytes: 0 }
  try {
    const months = await pullAll(daybook, settings, counts, context)
    const { downloaded, intact, bytes } = counts
    const [first, last] = [months[0]?.month, months.at(-1)?.month]
    printNotice(
      context,
      months.length === 1 ? `1 month: ${first}` : `${months.length} months: ${first} to ${last}`,
    )
    printNotice(
      context,
      `${formatCount(downloaded, 'file')} downloaded (${formatCount(bytes, 'byte')}), ${intact} already complete`,
    )
    if (months.at(-1)?.state === 'open')
      printNotice(context, `${months.at(-1)?.month} is not over: its files end at the present head`)
    return 0
  } catch (error) {
    if (!context.stop.aborted) throw asPathError(asCommandError(error), '--to')
    throw new CommandError('stopped; repeat the command to continue', { cause: error })
  }
}

async function pullAll(
  daybook: Daybook,
  { months: range, to }: PullSettings,
  counts: PullCounts,
  context: CommandContext,
): Promise<readonly ArchiveMonth[]> {
  const { ask } = daybook
  // Each answer may come from another node. The checkpoint must cover the events that the witnesses vouch for.
  const witnessed = await pullWitnessed(daybook, context)
  const newest = await getCovering(daybook, endpointPath('logCheckpoint', ''), headOf(witnessed), context)
  // The files contain every event that it signs.
  const size = headOf(newest)
  const keys = (await getCovering(daybook, endpointPath('logKeys', ''), size, context)).bytes()
  const listed = await getCovering(daybook, endpointPath('archive', ''), size, context)
  const months = monthsOf(listed.json(), range)
  const progress = openProgress('pulling', 'bytes', context)
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
      manifest = state === 'closed' ? await pullManifest(daybook, month, archive, size, context) : null
      // On a node the month is closed when it has the event after it.
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
        await pullFile(ask, { path, file, expected, covers }, context, onBytes)
        counts.downloaded += 1
      }
    }
    await pullSums(daybook, months, archive, context)
    await replace(join(to, 'log', 'keys'), keys)
    const isLatest = monthsIn(archive).at(-1) === months.at(-1)?.month
    if (isLatest) {
      // Without the open month, the files end with the checkpoint of the last manifest.
      const checkpoint = manifest === null ? newest.bytes() : Buffer.from(manifest.checkpoint)
      await replace(join(to, 'log', 'checkpoint'), checkpoint)
      // Only with the open month do the files reach the tree that the witnesses have seen.
      if (manifest === null && witnessed !== null)
        await replace(join(to, 'log', 'checkpoint.witnessed'), witnessed.bytes())
    }
  } finally {
    progress.end()
  }
  return months
}

/** Listed months in the range, at least one. */
function monthsOf({ months: all }: ArchiveIndex, range: MonthRange): readonly ArchiveMonth[] {
  const months = all.filter(
    ({ month }) => (range.from ?? month) <= month && month <= (range.to ?? month) && isMonth(month),
  )
  if (months.length > 0) return months
  const [first, last] = [all[0]?.month, all.at(-1)?.month]
  throw new UsageError(
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
async function pullWitnessed({ ask }: Daybook, { stop }: CommandContext): Promise<Answer | null> {
  try {
    return await ask.get(endpointPath('logWitnessedCheckpoint', ''), { signal: stop })
  } catch (error) {
    if (error instanceof DaybookError && error.status === 404) return null
    throw error
  }
}

/** Answer that counts the event `covers`. Asks again for a few seconds while a node is behind. */
function getCovering(
  { ask }: Daybook,
  path: string,
  covers: number,
  { stop }: CommandContext,
): Promise<Answer> {
  return askedCovering(pauseOf(stop), path, covers, () => ask.get(path, { signal: stop }))
}

/** Number of events that an answer counts; 0 without an answer. */
function headOf(answer: Answer | null): number {
  return Number(answer?.headers.get('daybook-seq') ?? 0)
}

async function pullManifest(
  daybook: Daybook,
  month: string,
  archive: string,
  size: number,
  context: CommandContext,
): Promise<ArchiveManifest> {
  const name = `${month}.json`
  const answer = await getCovering(daybook, endpointPath('archiveFile', name), size, context)
  const manifest: ArchiveManifest = answer.json()
  await replace(join(archive, name), answer.bytes())
  return manifest
}

/** Writes `SHA256SUMS` with the digests of only the closed files in the folder, so that `sha256sum -c` misses none. */
async function pullSums(
  { ask }: Daybook,
  months: readonly ArchiveMonth[],
  archive: string,
  { stop }: CommandContext,
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
    throw new CommandError(`the node that answered is behind: ${path} lacks ${lacks}; try again later`)
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

/** Size and digest of a file from its manifest; null while the file grows. */
type ExpectedFile = Readonly<{ bytes: number; sha256: string }> | null

/** A file of the archive, and its place in the folder. */
type PulledFile = Readonly<{
  path: string
  file: string
  expected: ExpectedFile
  /** Seq of an event that the answering node must have, because nodes may be behind. */
  covers: number
}>

/** Whether the file exists with the expected size and digest. */
async function isIntact(file: string, { bytes, sha256 }: NonNullable<ExpectedFile>): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true && found.size === bytes && (await sha256Of(file)) === sha256
}

/**
 * Downloads a file as `<file>.part`, and renames it when it is complete and right. An interrupted download resumes
 * while the strong ETag is the same (RFC 9110, section 14), even from an earlier run. `onBytes` first receives the size
 * of a resumed part, then that of each new piece.
 */
async function pullFile(
  ask: Ask,
  { path, file, expected, covers }: PulledFile,
  context: CommandContext,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const part = `${file}.part`
  let wrong = 0
  for (let attempt = 1; ; attempt++) {
    try {
      await download(ask, { path, part, covers }, context.stop, onBytes)
      if (expected === null || (await isIntact(part, expected))) break
      // The part of an earlier run may be wrong, so the download may start anew once.
      await remove(part)
      if (++wrong > 1)
        throw new CommandError(`${path}: the size or SHA-256 of the file is not that of its manifest`)
    } catch (error) {
      context.stop.throwIfAborted()
      const waitMs = attempt < ATTEMPTS_MAX ? waitMsAfter(error, attempt, context.random) : undefined
      if (waitMs === undefined) throw error
      await pauseOf(context.stop)(waitMs)
    }
  }
  await using handle = await open(part, 'r+')
  await handle.sync()
  await rename(part, file)
  await rm(etagFile(part), { force: true })
}

const etagFile = (part: string): string => `${part}.etag`

async function remove(part: string): Promise<void> {
  await rm(part, { force: true })
  await rm(etagFile(part), { force: true })
}

/** Requests the rest of a part, or the whole file, and writes the answer. */
async function download(
  ask: Ask,
  { path, part, covers }: Readonly<{ path: string; part: string; covers: number }>,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const etag = await readFile(etagFile(part), 'utf8').catch(() => '')
  const has = (await stat(part).catch(() => undefined))?.size ?? 0
  const isResumed = has > 0 && etag !== ''
  const headers = isResumed ? { Range: `bytes=${has}-`, 'If-Range': etag } : {}
  const opened = askedCovering(pauseOf(signal), path, covers, () => ask.open(path, { signal, headers }))
  const answer = await opened.catch((error: unknown) => {
    // The part is complete, or belongs to another file. Its digest decides.
    if (error instanceof DaybookError && error.status === 416) return null
    throw error
  })
  if (answer === null) return
  const start = answer.status === 206 ? startOf(answer) : 0
  if (start !== 0 && start !== has)
    throw new DaybookError('unexpected-answer', `${path}: the answer begins at byte ${start}, not ${has}`)
  const strong = answer.headers.get('etag') ?? ''
  if (start === 0) await rm(part, { force: true })
  await writeFile(etagFile(part), strong.startsWith('"') ? strong : '')
  onBytes(start)
  await using handle = await open(part, start === 0 ? 'w' : 'a')
  for await (const chunk of answer.stream) {
    await handle.appendFile(chunk)
    onBytes(chunk.length)
  }
}

/** Index of the first byte of a partial answer; -1 when the header is malformed. */
function startOf({ headers }: OpenAnswer): number {
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? -1)
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
