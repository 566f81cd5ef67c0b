import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Option } from 'commander'
import {
  backupsIn,
  type FolderBackup,
  type StoreContent,
  storeContentOf,
} from '../../log/backup/backup-folder.ts'
import { freeBytes } from '../../log/store/disk-probe.ts'
import { type HighWater, markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { lockDirectory, LockedError } from '../../log/store/lock.ts'
import { readMirrorMeta } from '../../log/store/mirror-meta.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import {
  hasStore,
  openAnySchema,
  openForReading,
  readIdentity,
  refusalOf,
  StoreError,
  storePath,
  storeSchema,
} from '../../log/store/store.ts'
import { carriedPlace } from '../../log/tree/carried-place.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import { openSignedTrees, tryRead } from '../../log/tree/signed-trees.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { formatCount } from '../../protocol/amount.ts'
import { formatCompact, type Ms } from '../../protocol/moment.ts'
import { restoreStore } from '../../publish/restore-store.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import {
  type Diagnosis,
  named,
  note,
  ok,
  printDiagnoses,
  type CheckVerdict,
  warn,
  wrong,
} from '../doctor/diagnosis.ts'
import { keyVerdict, mirrorKeyVerdict } from '../doctor/doctor-directory.ts'
import { directoryOption } from '../operator/log-options.ts'
import { defaultKeyFile, readableKeys } from '../operator/signing-key-file.ts'
import { textOfFault } from '../service/background-audit.ts'
import {
  type CommandContext,
  type ExitCode,
  printNotice,
  takeDirectory,
} from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { mirrorIn } from '../terminal/log-directory.ts'
import { asPathError, isFolder, makeFolder } from '../terminal/option-paths.ts'
import { keyFiles, optionOf } from '../terminal/options.ts'
import { formatAge, formatBytes, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { asCopyError, newName } from './new-copy.ts'

const STOPPED = 'stopped; nothing was changed'

/** Options of `restore`, as commander parses them. */
type RestoreOptions = Readonly<{
  from: string
  data: string
  /** Key that signs the log; the default file if absent. */
  signingKeyFile?: readonly string[] | undefined
  acceptLoss?: boolean
}>

/** The command `restore`. */
export function restoreCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('restore')
  return {
    name: 'restore',
    description: 'put a backup in place of the store of a data directory, and keep the replaced store',
    options: [
      directoryOption(),
      option(
        '--from <path>',
        'backup, or folder whose newest backup of this log is taken; required',
      ).makeOptionMandatory(),
      option('--signing-key-file <files>', 'key that signs the log (default: <dir>.key)').argParser(keyFiles),
      new Option('--accept-loss', 'restore although published events are not in the backup'),
      new Option('--dry-run', 'say what would happen, and change nothing'),
    ],
    help: 'Example: daybook restore --from /backups --data /var/lib/daybook/log --dry-run',
    run: ({ dryRun, ...options }: RestoreOptions & { dryRun?: true }) =>
      dryRun === true ? dryRestore(options, context) : restore(options, context),
  }
}

/** Prints the plan of a restore without making it. Exit code 1 when the restore would be refused. */
function dryRestore(settings: RestoreOptions, context: CommandContext): ExitCode {
  const { found } = planRestore(settings, context)
  printDiagnoses(found, context)
  printNotice(context, 'nothing was changed: leave out --dry-run to restore')
  return found.some(({ is }) => is === 'wrong') ? 1 : 0
}

/** Restores a backup while no service uses the directory. */
export async function restore(settings: RestoreOptions, context: CommandContext): Promise<ExitCode> {
  const { data } = settings
  // A wrong path is refused before a folder is made.
  planRestore(settings, context)
  makeFolder(data, '--data', 0o700)
  using _lock = takeDirectory(data)
  const plan = planRestore(settings, context)
  const found = plan.found.filter(({ what }) => what !== 'lock')
  printDiagnoses(found, context)
  if (found.some(({ is }) => is === 'wrong')) {
    printNotice(context, 'nothing was changed')
    return 1
  }
  await replace(plan, settings, context)
  return 0
}

async function replace(plan: RestorePlan, settings: RestoreOptions, context: CommandContext): Promise<void> {
  const { data, signingKeyFile = null } = settings
  const { path, content } = plan.backup
  const keptAt = (at: Ms): string => `${storePath(data)}.replaced-${formatCompact(at)}`
  const { path: kept } = await newName(keptAt, STOPPED, context)
  const progress = openProgress('restoring', 'pages', context)
  try {
    const isKept = await restoreStore({
      from: path,
      dataDirectory: data,
      kept,
      isPresentWhole: plan.present !== null,
      onProgress(left, total) {
        if (context.stop.aborted) throw new CommandError(STOPPED)
        progress.at(total - left, total)
      },
      verify(copy) {
        progress.end()
        verifyCopy(copy, plan, readableKeys(signingKeyFile, data, context))
        raiseMark(plan, data)
      },
    })
    context.stdout.write(`${shellQuoted(data)} holds ${formatCount(content.events, 'event')} of ${path}\n`)
    if (isKept)
      printNotice(context, `the replaced store is kept as ${shellQuoted(kept)}: remove it when all is well`)
    for (const line of nextSteps(plan, settings, context)) printNotice(context, line)
  } catch (error) {
    throw asCopyError(error, { said: 'nothing was restored', option: '--data', path: data })
  } finally {
    progress.end()
  }
}

/** Refuses a copy whose newest events, tree or signature are wrong, or whose log is not that of the high-water mark. */
function verifyCopy(copy: string, { backup, mark, isLoss }: RestorePlan, keys: readonly SigningKey[]): void {
  // `daybook upgrade` proves the store of an older Daybook.
  if (backup.content.schema !== SCHEMA_VERSION) return
  using db = openForReading(copy)
  // A backup from before a change of keys does not list the key that has signed the mark since.
  const fault = faultAtStart(db, mark, keys)
  if (fault !== null && !(fault.lost && isLoss))
    throw new CommandError(`nothing was restored: ${backup.path}, ${textOfFault(fault)}: try an older backup`)
}

/**
 * Raises the high-water mark before the store that shows the loss is replaced, so that the next start detects the loss.
 * Otherwise a start would continue under the same origin, which is a fork. A mirror signs nothing, and refuses such a
 * mark.
 */
function raiseMark({ raised }: RestorePlan, data: string): void {
  if (raised !== null && mirrorIn(data) === null) markHighWater(data, raised)
}

/** Commands to run after a restore. */
function nextSteps(
  { backup, isLoss, isCarried }: RestorePlan,
  { data, signingKeyFile }: RestoreOptions,
  { program }: CommandContext,
): readonly string[] {
  const directory = `--data ${shellQuoted(data)}`
  // A mirror has no key.
  const signed =
    signingKeyFile === undefined
      ? directory
      : `${directory} --signing-key-file ${shellQuoted(signingKeyFile.join(','))}`
  const isOld = backup.content.schema !== SCHEMA_VERSION
  const upgrade = isOld ? [`next: ${program} upgrade ${signed}`] : []
  const check = `${isOld ? 'then' : 'next'}: ${program} check ${signed}`
  if (isCarried) {
    return [check, `then: ${program} serve ${signed} with its --log-store: it reads what was published since`]
  }
  const mirror = mirrorIn(data)
  const serve =
    mirror === null ? `then: ${program} serve ${signed}` : `then: ${program} mirror ${mirror.of} ${directory}`
  return isLoss
    ? [
        ...upgrade,
        `${serve} --accept-loss, once: a new log begins with the events that are left. Announce it`,
      ]
    : [...upgrade, check, serve]
}

/** Plan of a restore. A `wrong` finding prevents it. */
type RestorePlan = Readonly<{
  backup: ChosenBackup
  mark: HighWater | null
  /** Mark to write before the restore, when only the current store shows a loss. */
  raised: HighWater | null
  /** Current store; null when there is none, or when it cannot be read. */
  present: StoreContent | null
  /** Whether readers have seen more than the backup holds. */
  isLoss: boolean
  /** Whether a table carries the log and still has the events that the backup lacks. */
  isCarried: boolean
  found: readonly Diagnosis[]
}>

type ChosenBackup = Readonly<{ path: string; atMs: number | null; content: StoreContent; bytes: number }>

/** Plans a restore, and changes nothing. */
function planRestore(settings: RestoreOptions, context: CommandContext): RestorePlan {
  const { data, from, acceptLoss = false } = settings
  const present = hasStore(data) ? presentOf(storePath(data)) : null
  const { mark, fault } = markOf(data)
  const { backup, damaged } = chooseBackup(from, logsOf(present, mark))
  const { content, bytes, atMs } = backup
  const age = atMs === null ? '' : `, made ${formatAge(context.now() - atMs)} ago`
  const shared = sharedLog(backup)
  const isCarried = shared !== null
  const known = { data, mark, present }
  const accepted = { shared, isAccepted: acceptLoss, program: context.program }
  const { lost, raised, verdict: loss } = lossOf(content, known, accepted)
  const size = `${formatCount(content.events, 'event')}, ${formatBytes(bytes)}`
  const newer = damaged.map(({ path }) => warn(`${path} is newer, but is no store that can be read`))
  const found = [
    ...named('backup', note(`${backup.path}${age}: ${size}`), ...newer),
    ...named('log', note(`${content.origin}, id ${content.log}`)),
    ...named('schema', schemaVerdict(backup.path, content)),
    ...named('high-water', fault === null ? null : warn(fault)),
    ...named('present', presentVerdict(data, present)),
    ...named('loss', loss),
    ...named('key', ...keyVerdicts(settings, backup.path, content, context)),
    ...named('disk', diskVerdict(data, bytes)),
    ...named('lock', lockVerdict(data)),
  ]
  return { backup, mark, raised, present, isLoss: lost, isCarried, found }
}

/** Current store; null when it is damaged. A store that this user may not read is not damaged. */
function presentOf(store: string): StoreContent | null {
  refuseUnreadable(store, '--data')
  return storeContentOf(store)
}

function refuseUnreadable(path: string, option: string): void {
  try {
    closeSync(openSync(path, 'r'))
  } catch (error) {
    throw asPathError(error, option)
  }
}

function markOf(data: string): Readonly<{ mark: HighWater | null; fault: string | null }> {
  try {
    return { mark: readHighWater(data), fault: null }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { mark: null, fault: `${error.message}; nothing tells what was published after the backup` }
  }
}

/** Ids of a directory's log and of those that it continues, the newest first. */
function logsOf(present: StoreContent | null, mark: HighWater | null): readonly string[] {
  const former = mark?.former.map(({ id }) => id).toReversed() ?? []
  return [mark?.log, present?.log, ...former].filter((id) => id !== undefined)
}

type Chosen = Readonly<{ backup: ChosenBackup; damaged: readonly FolderBackup[] }>

/**
 * The given file, or the backup with the most events in the given folder. The backup must be of the first of `logs`
 * that has one. Without `logs`, the folder must have backups of one log only.
 */
function chooseBackup(from: string, logs: readonly string[]): Chosen {
  if (!isFolder(from)) return { backup: chosen(from, null, contentOf(from)), damaged: [] }
  const backups = [...backupsIn(from)]
  if (logs.length === 0) refuseSeveralLogs(from, backups)
  const wanted = logs.length > 0 ? logs : backups.flatMap(({ content }) => content?.log ?? []).slice(0, 1)
  for (const log of wanted) {
    const at = newestOf(log, backups)
    const { path, atMs, content } = backups[at] ?? { path: '', atMs: null, content: null }
    if (content === null) continue
    const damaged = backups.slice(0, at).filter((newer) => newer.content === null)
    return { backup: chosen(path, atMs, content), damaged }
  }
  const whose = logs[0] === undefined ? '' : ` of the log ${logs[0]}`
  throw new UsageError(`--from: ${shellQuoted(from)} holds no backup${whose}`)
}

/**
 * Index of the backup with the most events of a log, of several the latest name; -1 without any. Events of one log only
 * grow, whereas a name depends on a clock.
 */
function newestOf(log: string, backups: readonly FolderBackup[]): number {
  const events = backups.map(({ content }) => (content?.log === log ? content.events : -1))
  const most = Math.max(-1, ...events)
  return most < 0 ? -1 : events.indexOf(most)
}

function chosen(path: string, atMs: number | null, content: StoreContent): ChosenBackup {
  return { path, atMs, content, bytes: statSync(path).size }
}

function contentOf(file: string): StoreContent {
  if (!existsSync(file) || !statSync(file).isFile())
    throw new UsageError(`--from: there is no file or folder ${shellQuoted(file)}`)
  refuseUnreadable(file, '--from')
  const content = storeContentOf(file)
  if (content === null) throw new CommandError(`--from: ${shellQuoted(file)} is no store of Daybook`)
  return content
}

function refuseSeveralLogs(folder: string, backups: readonly FolderBackup[]): void {
  const logs = new Set(backups.flatMap(({ content }) => content?.log ?? []))
  if (logs.size > 1) {
    const reason = `holds backups of ${logs.size} logs: give the file of one`
    throw new UsageError(`--from: ${shellQuoted(folder)} ${reason}`)
  }
}

function schemaVerdict(path: string, { schema }: StoreContent): CheckVerdict {
  if (schema === SCHEMA_VERSION) return ok(`${schema}, which this Daybook reads`)
  using db = openAnySchema(path, { readOnly: true })
  const reason = refusalOf(db, storeSchema(db))
  return schema < SCHEMA_VERSION ? warn(reason) : wrong(reason)
}

function presentVerdict(data: string, present: StoreContent | null): CheckVerdict {
  if (!hasStore(data)) return note(`${shellQuoted(data)} holds no store`)
  if (present === null) return note('the present store cannot be read; it is kept under another name')
  return note(`the present store has ${formatCount(present.events, 'event')}; it is kept under another name`)
}

/** Identity of a backup's log if a table carries it; null otherwise. */
function sharedLog({ path, content: { schema } }: ChosenBackup): LogIdentity | null {
  if (schema !== SCHEMA_VERSION) return null
  using db = openAnySchema(path, { readOnly: true })
  return carriedPlace(db) === null ? null : readIdentity(db)
}

function keyVerdicts(
  { data, signingKeyFile }: RestoreOptions,
  path: string,
  { origin, schema }: StoreContent,
  context: CommandContext,
): readonly CheckVerdict[] {
  const files = signingKeyFile ?? [defaultKeyFile(data)]
  using db = openAnySchema(path, { readOnly: true })
  const mirror = schema === SCHEMA_VERSION ? readMirrorMeta(db) : null
  if (mirror !== null) return [mirrorKeyVerdict(mirror)]
  const listed = schema === SCHEMA_VERSION ? readKeys(db) : []
  return files.map((file) => {
    const found = keyVerdict(file, origin, listed, context)
    // The key is not needed before the start.
    if (found.is === 'wrong') return warn(found.says)
    return schema === SCHEMA_VERSION ? found : note(`${file} is there`)
  })
}

function diskVerdict(data: string, bytes: number): CheckVerdict {
  let folder = resolve(data)
  while (!existsSync(folder)) folder = dirname(folder)
  const free = freeBytes(folder)
  const says = `the restore needs ${formatBytes(bytes)}, and ${formatBytes(free)} are free`
  return free < bytes ? wrong(says) : ok(says)
}

/** Verdict on whether another process uses the directory. A restore takes the lock itself before it plans. */
function lockVerdict(data: string): CheckVerdict | null {
  // Does not create the lock's file, because a dry run changes nothing.
  if (!existsSync(join(data, 'lock'))) return null
  try {
    lockDirectory(data)[Symbol.dispose]()
    return null
  } catch (error) {
    if (!(error instanceof LockedError)) throw error
    return warn('another process uses the directory: stop the service before the restore')
  }
}

/** Traces of the log in a data directory. */
type Known = Readonly<{
  data: string
  mark: HighWater | null
  /** Current store; null when there is none, or when it cannot be read. */
  present: StoreContent | null
}>

type LossSettings = Readonly<{
  isAccepted: boolean
  /** Identity of the backup's log if a table carries it; null otherwise. */
  shared: LogIdentity | null
  /** The user's command for this program. */
  program: string
}>

/**
 * Whether the backup lacks events that readers have seen. `raised` is the mark to write before the restore, when only
 * the current store has these events.
 */
type Loss = Readonly<{ lost: boolean; raised: HighWater | null; verdict: CheckVerdict }>

/** Determines whether the backup lacks published events, from the high-water mark and the current store. */
function lossOf(
  { log, events, origin }: StoreContent,
  { data, mark, present }: Known,
  { isAccepted, shared, program }: LossSettings,
): Loss {
  const loss = isAccepted ? warn : wrong
  const remedy = isAccepted
    ? 'the next start begins a new log without them'
    : 'use a newer backup, or --accept-loss to give them up'
  if (mark?.former.some(({ id }) => id === log) === true) {
    const says = `the log ${mark.log} continues this one since a loss was accepted: ${remedy}`
    return lostWith(loss(says))
  }
  const other = mark?.log ?? present?.log ?? log
  if (shared?.former.some(({ id }) => id === other) === true) {
    const says = `${origin} continues the log of this directory: what it lacks is in the kept store, and ${program} cluster lost --data ${shellQuoted(data)} lists its drafts`
    return nothingLost(warn(says))
  }
  if (other !== log) {
    const says = `the directory belongs to another log, ${other}: restore into an empty directory`
    return nothingLost(wrong(says))
  }
  const published = mark === null ? 0 : sizeOf(mark)
  const stored = present?.log === log ? present.events : 0
  const missing = Math.max(published, stored) - events
  if (missing > 0) {
    const known = published >= stored ? 'the log has published' : 'the present store has'
    const says = `the backup lacks ${formatCount(missing, 'event')} after seq ${events}, which ${known}`
    if (shared !== null) return lostWith(warn(`${says}: the node reads them from its table`))
    const raised = stored > published ? newestMark(data) : null
    if (raised === null && published <= events) return lostWith(wrong(`${says}. ${UNPROVEN}`))
    return lostWith(loss(`${says}: ${remedy}`), raised)
  }
  if (mark !== null) return nothingLost(ok('the backup holds every published event'))
  return nothingLost(warn(nothingTells(program)))
}

const UNPROVEN =
  'Its newest tree is not the one that was signed, so the next start would not know of the loss: move the present store away, restore, and ask a reader for a checkpoint before the start'

function nothingTells(program: string): string {
  return `without a high-water mark nothing tells what was published after the backup: ask a reader for a checkpoint, and run ${program} verify URL --since FILE with it after the start`
}

function lostWith(verdict: CheckVerdict, raised: HighWater | null = null): Loss {
  return { lost: true, raised, verdict }
}

function nothingLost(verdict: CheckVerdict): Loss {
  return { lost: false, raised: null, verdict }
}

function sizeOf({ checkpoint }: HighWater): number {
  const read = readCheckpoint(Buffer.from(checkpoint))
  return read.ok ? read.value.checkpoint.size : 0
}

/**
 * Newest tree of the current store as a mark; null unless a key of its log has signed it. A start refuses an unsigned
 * mark instead of treating it as a loss.
 */
function newestMark(data: string): HighWater | null {
  using db = openAnySchema(storePath(data), { readOnly: true })
  const mark = tryRead(() => newestCheckpoint(db))
  if (mark === undefined) return null
  const signed = tryRead(() => openSignedTrees(db).signedIn(mark.checkpoint, []))
  return signed === undefined ? null : mark
}
