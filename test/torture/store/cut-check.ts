import { createHash } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readSigningKeys } from '../../../src/command/operator/signing-key-file.ts'
import { newLogOf } from '../../../src/command/operator/log-options.ts'
import { readTokens } from '../../../src/command/publish/token-file.ts'
import { upgradeFirst } from '../../../src/command/operator/upgrade-command.ts'
import { readyStore } from '../../../src/command/service/service.ts'
import { makeFolder } from '../../../src/command/terminal/option-paths.ts'
import { takeDirectory } from '../../../src/command/terminal/command-context.ts'
import { openReader } from '../../../src/log/open-reader.ts'
import type { Snapshot } from '../../../src/log/store/reader.ts'
import { hasStore, StoreError, storePath } from '../../../src/log/store/store.ts'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import { openOwnLog } from '../../../src/publish/writer/writer-log.ts'
import { contextOf, run } from '../../stage/command-stage.ts'
import type { CutState } from './power-disk.ts'
import { contentOf, type Expected, type LogContent, type StartAgain } from './recorded-log.ts'
import assert from 'node:assert/strict'
import { runCheck } from '../../story/damaged-log.ts'
import { startNode } from '../../stage/node-process.ts'

const UNHEARD = { begun: () => undefined, audited: () => undefined, failed: () => undefined }

/** Folder of the data directory below the recorded folder. */
export const DATA = 'data'
const OWNER_ONLY = 0o600

/** Writes a state over the folder. */
export function writeState(folder: string, state: CutState): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  const written = new Map<Uint8Array, string>()
  for (const [name, content] of state) {
    if (name === '.') continue
    const path = join(folder, name)
    if (content === 'folder') {
      mkdirSync(path)
      continue
    }
    // A file with two names has one content.
    const same = written.get(content)
    if (same === undefined) writeFileSync(path, content, { mode: OWNER_ONLY })
    else linkSync(same, path)
    written.set(content, path)
  }
}

/**
 * Starts a node on the state that a power cut left, through the code of `serve`, up to its listeners. Throws when it
 * refuses. Returns the keys that sign.
 */
export async function startAgain(folder: string, { start }: Expected): Promise<readonly SigningKey[]> {
  const context = contextOf({})
  const data = join(folder, DATA)
  const files = start.keyFiles?.map((file) => join(folder, file))
  if (start.upgrade === true && hasStore(data))
    await upgradeFirst({ data, waitMs: null, rebuild: false, keyFiles: files ?? null }, context)
  const newLog = newLogOf({ data, development: true, balances: 'report' }, false)
  makeFolder(data, '--data')
  readTokens(null, data)
  const keys = readSigningKeys(files, data, newLog.origin, context)
  using _lock = takeDirectory(data)
  const ready = (acceptLoss: boolean): Promise<void> => {
    const signing = { keys, acceptNewKey: start.acceptNewKey === true, acceptLoss }
    return readyStore({ data, verifyFirst: false, newLog, signing, carrier: null }, context, UNHEARD)
  }
  // The operator leaves the option out again when the cut came before anything was lost.
  await ready(start.acceptLoss === true).catch((error: unknown) => {
    if (error instanceof StoreError && error.message.startsWith('--accept-loss')) return ready(false)
    throw error
  })
  const { db } = openOwnLog({ dataDirectory: data, keys, judge: null })
  db.close()
  return keys
}

/** Checks what a node serves after a power cut. `logs` are the recorded logs: a loss that is accepted begins the next. */
export function checkServed(folder: string, expected: Expected, logs: readonly LogContent[]): void {
  const data = join(folder, DATA)
  const content = contentOf(storePath(data))
  const log = logOf(content, expected, logs)
  if (expected.id !== null && log === expected.log && content.id !== expected.id)
    throw new Error(`the log ${expected.id} was served, and now it is ${content.id}`)
  if (content.manifests.size > 0) checkMonths(data, logs[log]?.manifests)
  checkHeld(storePath(data), expected, content)
  checkBackups(folder, expected, logs)
}

/** Number of the recorded log that a store holds. Throws unless it holds all that was acknowledged, and nothing else. */
function logOf(content: LogContent, { log, head, start }: Expected, logs: readonly LogContent[]): number {
  const events = content.lines.length
  const later = logs.findIndex((one, number) => number > log && isPrefix(content, one))
  if (start.acceptLoss === true && later >= 0) return later
  const own = logs[log]
  if (own === undefined || !isPrefix(content, own))
    throw new Error(`the store holds ${events} events, and not all are those that were published`)
  if (events < head) throw new Error(`${head} events were acknowledged, and ${events} are there`)
  return log
}

function isPrefix({ lines, refs }: LogContent, whole: LogContent): boolean {
  return (
    lines.length <= whole.lines.length &&
    lines.every((line, index) => line === whole.lines[index] && refs[index] === whole.refs[index])
  )
}

/** Checks that the files of closed months are those of their manifests, and the manifests those that were recorded. */
function checkMonths(data: string, recorded: ReadonlyMap<string, string> | undefined): void {
  const reader = openReader(data, null)
  try {
    reader.snapshot((snapshot) => checkMonthFiles(snapshot, recorded))
  } finally {
    reader.close()
  }
}

function checkMonthFiles(snapshot: Snapshot, recorded: ReadonlyMap<string, string> | undefined): void {
  for (const { month, manifest } of snapshot.months()) {
    if (manifest === null) continue
    if (recorded?.get(month) !== manifest) throw new Error(`the manifest of ${month} has changed`)
    const { gzip, details } = JSON.parse(manifest) as Manifest
    for (const [file, { sha256 }] of [
      ['events', gzip],
      ['details', details],
    ] as const) {
      const layout = snapshot.monthLayout(month, file)
      const sum = createHash('sha256')
      for (let at = 0; at < (layout?.storedBytes ?? 0);) {
        const chunk = snapshot.monthChunk(month, file, at, layout?.storedBytes ?? 0)
        sum.update(chunk)
        at += chunk.length
      }
      if (sum.update(layout?.ending ?? '').digest('hex') !== sha256)
        throw new Error(`the file of ${month} (${file}) is not that of its manifest`)
    }
  }
}

type Manifest = Readonly<Record<'gzip' | 'details', Readonly<{ sha256: string }>>>

/** Checks that each draft which was answered as held waits, is dropped, or is published. */
function checkHeld(store: string, { held }: Expected, { refs }: LogContent): void {
  if (held.length === 0) return
  const db = new DatabaseSync(store, { readOnly: true })
  try {
    const waiting = db
      .prepare('SELECT ref FROM held UNION SELECT ref FROM settled')
      .all()
      .map((row) => String(row['ref']))
    const known = new Set([...waiting, ...refs])
    for (const ref of held) if (!known.has(ref)) throw new Error(`the held draft ${ref} is lost`)
  } finally {
    db.close()
  }
}

/** Checks that each file with the name of a backup is whole, and that those which were reported are there. */
function checkBackups(folder: string, { backups }: Expected, logs: readonly LogContent[]): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!isBackup(name)) continue
    const content = contentOf(join(folder, name))
    if (!logs.some((log) => isPrefix(content, log))) throw new Error(`the backup ${name} holds another log`)
    const head = backups.get(name) ?? 0
    if (content.lines.length < head)
      throw new Error(`the backup ${name} had ${head} events, and has ${content.lines.length}`)
  }
  for (const name of backups.keys())
    if (!existsSync(join(folder, name))) throw new Error(`the backup ${name} is lost`)
}

const isBackup = (name: string): boolean => /^backups\/daybook-[^/]*\.db$/.test(name)

/** Starts the service itself after a power cut, publishes a draft twice, stops it, and recomputes its store. */
export async function serveAfter(
  folder: string,
  { keyFiles }: StartAgain,
  signing: readonly SigningKey[],
): Promise<void> {
  const files = keyFiles?.map((file) => join(folder, file)).join(',')
  const keys = files === undefined ? [] : ['--signing-key-file', files]
  const node = await startNode(join(folder, DATA), ['--chain', 'solana', '--balances', 'report', ...keys])
  const draft = { ref: 'to-the-service-after-the-cut', type: 'trade', kind: 'buy', kots: '1' }
  const [first, again] = [await node.publish([draft]), await node.publish([draft])]
  assert.deepEqual([first.drafts[0]?.status, again.drafts[0]?.status], ['published', 'duplicate'])
  assert.equal(first.drafts[0]?.seq, again.drafts[0]?.seq)
  assert.equal((await node.end('SIGTERM')).code, 0, node.stderr())
  const { code, said } = await runCheck(join(folder, DATA), signing)
  assert.equal(code, 0, said)
}

/** Repeats a command that was cut off. It ends as if it had not been, or says that there is nothing left to do. */
export async function repeatCommand(folder: string, words: readonly string[]): Promise<void> {
  const placed = words.map((word) => word.replaceAll('ROOT', folder))
  const { code, stderr } = await run(placed)
  if (!/has lost nothing/.test(stderr)) assert.equal(code, 0, `${placed.join(' ')}: ${stderr}`)
}
