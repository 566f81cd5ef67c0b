import { on } from 'node:events'
import { statSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Appender, openAppender } from '../../log/append.ts'
import { lockDirectory } from '../../log/store/lock.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import type { NewLog } from '../../log/store/store.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import type { BalancesSetting } from '../admission/admission.ts'
import { type ImportAppender, openImportAppender, openImportHeld, openRefsSeen } from './import-appender.ts'
import { STDIN } from './import-lines.ts'
import type { FromParser, ImportRefusal, ParserSettings } from './import-thread.ts'
import { type NewStore, openNewStore } from './import-store.ts'

export type { ImportRefusal } from './import-thread.ts'

/** Progress of an import. `bytesTotal` is null when the size of a file is unknown, such as that of a pipe. */
export type ImportProgress = Readonly<{
  stage: 'reading' | 'finishing'
  bytes: number
  bytesTotal: number | null
  drafts: number
}>

export type ImportSettings = Readonly<{
  /** Files of drafts in order of time, as JSON lines, plain or gzip. `-` is standard input. */
  files: readonly string[]
  dataDirectory: string
  /** Identity of a new log. An existing log keeps its own. */
  newLog: NewLog
  /** Keys that sign the tree after the import, and at each month's end. */
  keys: readonly SigningKey[]
  /** `report` admits and counts drafts whose order or balance is wrong. */
  balances: BalancesSetting
  /** The current moment. Later drafts are refused. */
  now: Ms
  monotonicMs(): number
  onProgress(progress: ImportProgress): void
  signal: AbortSignal
}>

export type ImportReport = Readonly<{
  ok: true
  events: number
  /** Drafts whose ref was published before with the same content. */
  duplicates: number
  /** Drafts with a wrong order or balance that `report` admitted. */
  irregular: number
  /** Null when no event was imported; then nothing has changed. */
  firstSeq: Seq | null
  lastSeq: Seq | null
  seconds: number
}>

/**
 * Imports files of drafts as one sequence, all or none. Builds a new store beside the old one, verifies it, and
 * replaces the old one with it. A refusal, failure or crash before the replacement changes nothing. Throws a
 * LockedError when the directory is in use, and the signal's reason when it is aborted.
 */
export async function importFiles(settings: ImportSettings): Promise<ImportReport | ImportRefusal> {
  const beganMs = settings.monotonicMs()
  const bytesTotal = sizeOf(settings.files)
  if (typeof bytesTotal === 'object' && bytesTotal !== null) return bytesTotal
  const lock = lockDirectory(settings.dataDirectory)
  try {
    const store = await openNewStore(settings.dataDirectory, settings.newLog, settings.keys)
    try {
      return await build(settings, store, bytesTotal, beganMs)
    } finally {
      store.close()
    }
  } finally {
    lock[Symbol.dispose]()
  }
}

/** Bytes of all files; null when unknown, a refusal when a file is missing or is a directory. */
function sizeOf(files: readonly string[]): number | null | ImportRefusal {
  let bytes: number | null = 0
  for (const file of files) {
    const found = file === STDIN ? undefined : statSync(file, { throwIfNoEntry: false })
    const reason = found === undefined ? 'does not exist' : 'is a directory'
    if (file !== STDIN && (found === undefined || found.isDirectory())) {
      return { ok: false, file, line: null, field: null, reason }
    }
    bytes = found?.isFile() === true && bytes !== null ? bytes + found.size : null
  }
  return bytes
}

async function build(
  settings: ImportSettings,
  store: NewStore,
  bytesTotal: number | null,
  beganMs: number,
): Promise<ImportReport | ImportRefusal> {
  const appender = openAppender(store.db, store.signer)
  const before = appender.head().seq
  const refs = openRefsSeen(store.old, store.db, appender)
  const importer = openImportAppender(appender, refs, { ...settings, waits: openImportHeld(store.db) })
  appender.begin()
  const refusal = await takeAll(settings, store, importer, bytesTotal)
  if (refusal !== null) return refusal

  const { duplicates, irregular } = importer.counts()
  const report = (): ImportReport => {
    const { seq } = appender.head()
    const events = seq - before
    const span =
      events === 0 ? { firstSeq: null, lastSeq: null } : { firstSeq: seqOf(before + 1), lastSeq: seq }
    const seconds = (settings.monotonicMs() - beganMs) / 1000
    return { ok: true, events, duplicates, irregular, ...span, seconds }
  }
  if (appender.head().seq === before) store.keepOld()
  else await finish(settings, store, appender)
  return report()
}

async function finish({ signal }: ImportSettings, store: NewStore, appender: Appender): Promise<void> {
  appender.commit()
  store.finish()
  await turn()
  store.verify({ head: appender.head(), tally: appender.fold().tally })
  await turn()
  signal.throwIfAborted()
  store.replace()
}

/** Appends the drafts of the parser's thread, up to the end or the first refusal. */
async function takeAll(
  { files, signal, onProgress }: ImportSettings,
  store: NewStore,
  importer: ImportAppender,
  bytesTotal: number | null,
): Promise<ImportRefusal | null> {
  signal.throwIfAborted()
  const workerData: ParserSettings = { files, chain: store.chain }
  const worker = new Worker(new URL(import.meta.resolve('./import-thread.ts')), { workerData })
  let drafts = 0
  let bytes = 0
  try {
    for await (const [value] of on(worker, 'message', { close: ['exit'], signal })) {
      signal.throwIfAborted()
      const message: FromParser = value
      switch (message.is) {
        case 'refused':
          return message.refusal
        case 'end':
          importer.write()
          onProgress({ stage: 'finishing', bytes: bytesTotal ?? bytes, bytesTotal, drafts })
          await turn()
          return null
        case 'drafts': {
          // The parser's thread parses the next batch while this one is appended.
          worker.postMessage('taken')
          const refusal = importer.take(message)
          if (refusal !== null) return refusal
          drafts += message.drafts.length
          bytes = message.bytes
          onProgress({ stage: 'reading', bytes, bytesTotal, drafts })
          // Yields to signals and timers, which steady batches would block.
          await turn()
        }
      }
    }
    throw new Error('the parser stopped before the end of the files')
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    await worker.terminate()
  }
}
