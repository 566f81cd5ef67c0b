import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Argument } from 'commander'
import { openAsk } from '../../client/ask.ts'
import { readBytes } from '../../client/body.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import { parseCheckpoint } from '../../tlog/checkpoint.ts'
import { NOTE_BYTES_MAX, parseNote } from '../../tlog/note.ts'
import { WITNESSES_MAX } from '../../tlog/quorum.ts'
import type { WitnessAnswer, ChosenWitnesses } from '../../verify/witnesses.ts'
import { type Audit, audit, type AuditSettings } from '../../verify/audit.ts'
import { openLiveSource } from '../../verify/reading/live-source.ts'
import { FILE_BYTES_MAX, type Source } from '../../verify/reading/source.ts'
import { formatReport, isVerified } from '../../verify/report.ts'
import type { Evidence, SavedNote } from '../../verify/saved-checkpoint.ts'
import { fetchAllowed, fetchWithNotice } from '../terminal/client.ts'
import { type ExitCode, printNotice, type CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { fetchSameOrigin, isAddress, readAddress } from '../terminal/log-address.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { asPathError, checkFolder, makeFolder, systemReason } from '../terminal/option-paths.ts'
import { checkVkeys, collectVkeys, option, optionOf, wholeBetween } from '../terminal/options.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { isBookPath } from '../book/book-file.ts'
import { verifyBook } from '../book/verify-book.ts'
import type { CommandSpec, ProgramContext, VerifyPart } from '../plug/option.ts'
import { VERSION } from '../terminal/version.ts'
import { collectWitnesses, readWitnesses } from '../terminal/witness-option.ts'

/** Options of `verify`, as commander parses them. */
type VerifyOptions = WitnessOptions &
  Readonly<{
    since?: string
    save?: string
    /** Verifier keys from a source other than the service. */
    key: readonly string[]
  }>

/** Options of `verify` about witnesses. */
type WitnessOptions = Readonly<{ witness: readonly string[]; quorum?: number }>

/** Command `daybook verify` with its options. */
export async function verifyCommand({ context, options: plugged }: ProgramContext): Promise<CommandSpec> {
  const parts = await Promise.all(plugged.flatMap(({ verify: load }) => load?.() ?? []))
  // `serve` has options of the same names with other values.
  const own = optionOf('verify')
  const examples = `Examples:
  daybook verify https://data.example.org --key "$(cat vkey)" --save checkpoints
  daybook verify copy
  daybook verify book.sqlite
  daybook verify https://data.example.org --witness "$(cat witness-vkey)=https://witness.example.net"

The file vkey has the verifier key of the log. Take it from where the operator publishes it, not from the service.
For your own log, daybook keygen --show prints it.`
  return {
    name: 'verify',
    description: 'check the signature, the root, the archive and every published figure from public files',
    arguments: [
      new Argument(
        '<url-or-path>',
        'address of a service, a folder with a copy of its files, or a file of pull',
      ),
    ],
    options: [
      option('--since <checkpoint>', 'file with a checkpoint from an earlier run'),
      option('--save <dir>', 'folder that keeps checkpoints and evidence between runs'),
      option('--key <vkey>', 'verifier key from a source other than the service; may be repeated')
        .argParser(collectVkeys)
        .default([], 'the key kept in --save, else the key that the service lists'),
      own('--witness <vkey>', 'key of a witness, VKEY or VKEY=URL to ask it too; may be repeated')
        .argParser(collectWitnesses)
        .default([], 'none'),
      own('--quorum <n>', 'witnesses that must vouch for the log (default: more than half)').argParser(
        wholeBetween(1, WITNESSES_MAX),
      ),
      ...parts.flatMap(({ options }) => options),
    ],
    help: [examples, ...parts.map(({ help }) => help)].join('\n'),
    run: (target: string, options: VerifyOptions) => verify(target, options, parts[0] ?? null, context),
  }
}

/** Verifies a service or a folder of its files, and prints a report of one screen. */
async function verify(
  target: string,
  options: VerifyOptions,
  part: VerifyPart | null,
  context: CommandContext,
): Promise<ExitCode> {
  const started = context.monotonicMs()
  const { since, save, key: keys, witness } = options
  checkVkeys(keys)
  if (isBookPath(target) && statSync(target, { throwIfNoEntry: false })?.isFile() === true) {
    if (since !== undefined || save !== undefined || witness.length > 0)
      throw new UsageError('a file of `pull` is verified by its own checkpoint: give --key alone')
    return verifyBook(target, keys, context)
  }
  const given = since === undefined ? [] : [readSince(since)]
  const witnesses = openWitnessQuestions(options, context)
  const { source, requests } = openTarget(target, context)
  const chain = (await part?.checkOf(options, source, context)) ?? null
  const folder = save === undefined ? null : openCheckpointFolder(save)
  const found = await runAudit({ keys, chain, witnesses }, source, given, folder, context)
  const spent = `${requests()} ${source.is === 'service' ? 'requests' : 'files'}, ${duration(context.monotonicMs() - started)}`
  const advised = [
    '--key' as const,
    ...(save === undefined ? ['--save' as const] : []),
    ...(part === null ? [] : ['--chain' as const]),
  ]
  context.stdout.write(formatReport(found, context.drawn === true ? 'drawn' : 'plain', spent, advised))
  // The report comes first, so that a full disk cannot prevent it.
  for (const line of saveResults(found, folder)) printNotice(context, line)
  return isVerified(found) ? 0 : 1
}

async function runAudit(
  {
    keys,
    chain,
    witnesses,
  }: Readonly<{ keys: readonly string[] }> & Pick<AuditSettings, 'chain' | 'witnesses'>,
  source: Source,
  since: readonly SavedNote[],
  folder: CheckpointFolder | null,
  context: CommandContext,
): Promise<Audit> {
  const bars = {
    asking: openProgress('asking', 'answers', context),
    reading: openProgress('reading', 'events', context),
    chain: openProgress('asking the chain', 'answers', context),
  }
  try {
    return await audit({
      source,
      primitives: NODE_PRIMITIVES,
      own: { given: keys, keptOf: (origin) => folder?.keysOf(origin) ?? [] },
      saved: [...since, ...(folder?.saved() ?? [])],
      chance: context.random,
      now: context.now,
      chain,
      witnesses,
      signal: context.stop,
      onProgress(stage, done, total) {
        if (stage !== 'asking') bars.asking.end()
        if (stage === 'chain') bars.reading.end()
        bars[stage].at(done, total)
      },
    })
  } catch (error) {
    if (context.stop.aborted) throw new CommandError('stopped; the log was not verified', { cause: error })
    if (error instanceof DaybookError) throw new CommandError(error.message, { cause: error })
    throw error
  } finally {
    bars.asking.end()
    bars.reading.end()
    bars.chain.end()
  }
}

/** Saves the checkpoint and any evidence; returns lines for the user. */
function saveResults(found: Audit, folder: CheckpointFolder | null): readonly string[] {
  if (folder === null) {
    return found.evidence.length > 0 ? ['evidence was found and not saved: give --save DIR to save it'] : []
  }
  try {
    if (found.keep !== null) folder.keep(found.keep)
    return found.evidence.map((one) => `evidence saved in ${folder.keepEvidence(one)}`)
  } catch (error) {
    throw asPathError(error, '--save')
  }
}

type Target = Readonly<{ source: Source; requests(): number }>

function openTarget(target: string, context: CommandContext): Target {
  let count = 0
  if (!isAddress(target)) {
    if (statSync(target, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UsageError(
        `${shellQuoted(target)} is neither an address (http://…), nor an existing folder or file of pull`,
      )
    }
    const mirrored = join(target, 'api', 'v1')
    const isMirror = statSync(mirrored, { throwIfNoEntry: false })?.isDirectory() === true
    const folder = openFolderSource(isMirror ? mirrored : target)
    const read: Source['read'] = async (path) => {
      const file = await folder.read(path)
      count += file === undefined ? 0 : 1
      return file
    }
    return { source: { ...folder, read }, requests: () => count }
  }
  const base = readAddress(target)
  const fetch = fetchSameOrigin(fetchWithNotice(base, context))
  const ask = openAsk({
    base,
    now: context.monotonicMs,
    random: context.random,
    fetch(url, init) {
      count += 1
      return fetch(url, init)
    },
  })
  return { source: openLiveSource(ask, SURROUNDINGS.sleep, context.stop), requests: () => count }
}

function readSince(file: string): SavedNote {
  let note: Uint8Array
  try {
    note = readFileSync(file)
  } catch (cause) {
    throw new UsageError(`--since: ${shellQuoted(file)} cannot be read: ${systemReason(cause)}`, {
      cause,
    })
  }
  const parsed = parseNote(note)
  if (!parsed.ok || parseCheckpoint(parsed.value.text) === undefined) {
    throw new UsageError(`--since: ${shellQuoted(file)} is not a checkpoint`)
  }
  return { name: file, note, named: true }
}

function duration(ms: number): string {
  const seconds = ms / 1000
  return seconds < 120
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/** Longest wait for the whole answer of a witness. */
const ANSWER_MS_MAX = 10_000

/** Opens the requests to the witnesses; null without `--witness`. Throws a `CommandError` on malformed options. */
function openWitnessQuestions(
  { witness, quorum }: WitnessOptions,
  context: CommandContext,
): ChosenWitnesses | null {
  const choice = readWitnesses(witness, quorum, { quorum: '--quorum', needsUrl: false })
  if (choice === null) return null
  const { witnesses } = choice
  const urls = new Set(witnesses.flatMap(({ url }) => url ?? []))
  const asked = Array.from(urls, (url) => {
    const names = new Set(witnesses.filter((one) => one.url === url).map(({ key }) => key.name))
    return { url, keys: witnesses.flatMap(({ key }) => (names.has(key.name) ? key : [])) }
  })
  return {
    keys: witnesses.map(({ key }) => key),
    quorum: choice.quorum,
    asked,
    ask: (address) => askWitness(address, context.stop),
  }
}

async function askWitness(address: string, stop: AbortSignal): Promise<WitnessAnswer> {
  const late = AbortSignal.timeout(ANSWER_MS_MAX)
  try {
    const signal = AbortSignal.any([stop, late])
    const { status, body } = await fetchAllowed(address, {
      signal,
      headers: { 'User-Agent': `daybook/${VERSION}` },
    })
    if (status === 200 && body !== null) return { is: 'note', body: await readBytes(body, NOTE_BYTES_MAX) }
    await body?.cancel()
    return status === 404 ? { is: 'none' } : { is: 'silent', why: `status ${status}` }
  } catch (error) {
    stop.throwIfAborted()
    if (late.aborted) return { is: 'silent', why: `not within ${ANSWER_MS_MAX / 1000} s` }
    return { is: 'silent', why: error instanceof DaybookError ? error.message : 'it cannot be reached' }
  }
}

const MONTH_FILE = /^(\d{4}-\d{2})\.jsonl\.gz$/

/**
 * Source that reads a folder with the paths below `/api/v1/`: `archive/2026-10.jsonl.gz`, `log/checkpoint`,
 * `summary.json` and so on. A JSON answer is at its path, at its path with `.json`, or in `index.json` of a folder of
 * its name. Files of `archive` and `log` may also be in the folder itself.
 */
function openFolderSource(folder: string): Source {
  return {
    is: 'folder',
    async read(path) {
      const near = join(folder, basename(path))
      const own = /^(?:archive|log)\//.test(path) ? [near, `${near}.json`] : []
      const file = join(folder, path)
      for (const candidate of [file, `${file}.json`, join(file, 'index.json'), ...own]) {
        const found = await stat(candidate).catch(() => undefined)
        if (found?.isFile() !== true) continue
        if (found.size > FILE_BYTES_MAX)
          throw new CommandError(
            `${candidate} is larger than ${FILE_BYTES_MAX} bytes, the most that verify reads`,
          )
        return readFile(candidate)
      }
      return undefined
    },
    async months() {
      const names = await Promise.all(
        [folder, join(folder, 'archive')].map((at) => readdir(at).catch(() => [])),
      )
      const months = names.flat().flatMap((name) => MONTH_FILE.exec(name)?.[1] ?? [])
      return [...new Set(months)].toSorted()
    },
    pause: () => Promise.resolve(),
  }
}

/** Most checkpoints that are read from a folder. */
const SAVED_MAX = 100_000
const CHECKPOINT = /^[0-9a-f]{16}-\d+\.checkpoint$/

/** Folder that stores checkpoints between runs, with the keys that verified them. */
type CheckpointFolder = Readonly<{
  saved(): readonly SavedNote[]
  keysOf(origin: string): readonly string[]
  keep(checkpoint: NonNullable<Audit['keep']>): void
  /** Writes evidence of a fork or a rollback for others, and returns its folder. */
  keepEvidence(evidence: Evidence): string
}>

/** Opens the folder of `--save`, and creates it if it is missing. */
export function openCheckpointFolder(directory: string): CheckpointFolder {
  checkFolder(directory, '--save')
  makeFolder(directory, '--save')
  const at = (name: string): string => join(directory, name)
  return {
    saved() {
      try {
        return readdirSync(directory)
          .filter((name) => CHECKPOINT.test(name))
          .slice(-SAVED_MAX)
          .map((name) => ({ name: at(name), note: readFileSync(at(name)), named: false }))
      } catch (error) {
        throw asPathError(error, '--save')
      }
    },
    keysOf(origin) {
      const file = at(`${nameOf(origin)}.vkeys`)
      return existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : []
    },
    keep({ origin, notes, vkeys }) {
      for (const { size, note } of notes) writeNew(at(`${nameOf(origin)}-${size}.checkpoint`), note)
      writeWhole(at(`${nameOf(origin)}.vkeys`), vkeys.map((vkey) => `${vkey}\n`).join(''))
    },
    keepEvidence({ origin, name, files }) {
      const folder = at(`${nameOf(origin)}-${name}`)
      makeFolder(folder, '--save')
      for (const [file, bytes] of Object.entries(files)) writeNew(join(folder, file), bytes)
      return folder
    },
  }
}

/** Writes a file unless it exists. A checkpoint of the same name has the same content. */
function writeNew(file: string, bytes: Uint8Array): void {
  if (!existsSync(file)) writeWhole(file, bytes)
}

/** Writes a file under another name first, so that a full disk or a crash leaves no partial file. */
function writeWhole(file: string, bytes: Uint8Array | string): void {
  writeFileSync(`${file}.part`, bytes, { flush: true })
  renameSync(`${file}.part`, file)
}

/** Name of a log's files: the start of the SHA-256 of its origin, which may contain slashes. */
function nameOf(origin: string): string {
  return createHash('sha256').update(origin).digest('hex').slice(0, 16)
}
