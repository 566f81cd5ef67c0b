import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { DatabaseSync } from 'node:sqlite'
import { backUp } from '../../src/command/backups/backup-command.ts'
import { check } from '../../src/command/operator/check-command.ts'
import { defaultKeyFile } from '../../src/command/operator/signing-key-file.ts'
import type { ExitCode, CommandContext } from '../../src/command/terminal/command-context.ts'
import { type Appender, openAppender } from '../../src/log/append.ts'
import { markHighWater } from '../../src/log/store/high-water.ts'
import { newestCheckpoint, readyLog, type Signing } from '../../src/log/tree/ready-log.ts'
import { openSigner, type SigningKey } from '../../src/log/tree/signer.ts'
import {
  createStore,
  type NewLog,
  openForWriting,
  readIdentity,
  StoreError,
  storePath,
} from '../../src/log/store/store.ts'
import { HASHER } from '../../src/log/tree/stored-tree.ts'
import { billionths } from '../../src/protocol/amount.ts'
import { HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import { formatEntry } from '../../src/tlog/entries.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../src/tlog/frontier.ts'
import { priced } from './story.ts'
import { TEST_KEY, testSigner } from './signing.ts'

export const NEW_LOG: NewLog = { origin: 'daybook.test/log', chain: 'opaque', simulated: false }
export const SIGNING: Signing = { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false }

/** Events of each of the closed months January and February. March is open. Every other event has details. */
const MONTH_EVENTS = 300
const MONTHS = [Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1)] as const

/** Appends the event `seq` of the log of these tests. */
export function appendEvent(appender: Appender, seq: number): void {
  const month = Math.min(Math.floor((seq - 1) / MONTH_EVENTS), MONTHS.length - 1)
  const at = msOf((MONTHS[month] ?? 0) + (seq - month * MONTH_EVENTS) * HOUR_MS)
  const ref = `ref-${seq}`
  const blank = { ref, atMs: null, contestId: null, tx: null }
  const named = { ref, digest: new Uint8Array(16) }
  if (seq % 2 === 0) {
    const details = priced(`0.${String(seq).padStart(12, '0')}`)
    appender.append({ ...blank, type: 'price', kind: 'usd', kots: null, details }, named, at)
  } else {
    const kots = billionths(BigInt(seq))
    appender.append({ ...blank, type: 'trade', kind: 'buy', kots, details: null }, named, at)
  }
}

/**
 * Publishes the events after the head up to the last of `ends`, with a commit that ends at each of them. With a `shift`
 * they are those of a log that is so many events ahead.
 */
export function publishUpTo(
  data: string,
  ends: readonly number[],
  keys: readonly SigningKey[] = [TEST_KEY],
  shift = 0,
): void {
  const db = openForWriting(storePath(data))
  try {
    const appender = openAppender(db, openSigner(readIdentity(db).origin, keys))
    for (const end of ends) {
      appender.begin()
      while (appender.head().seq < end) appendEvent(appender, appender.head().seq + 1 + shift)
      appender.write()
      appender.commit()
    }
    markHighWater(data, newestCheckpoint(db))
  } finally {
    db.close()
  }
}

/** Makes a log in a directory, with its key beside it. */
export function makeLog(data: string, ends: readonly number[], newLog: NewLog = NEW_LOG): void {
  createStore(storePath(data), newLog)
  writeKey(defaultKeyFile(data), TEST_KEY)
  const db = openForWriting(storePath(data))
  testSigner(db)
  db.close()
  publishUpTo(data, ends)
}

export function writeKey(path: string, { privateKey }: SigningKey, mode = 0o600): void {
  writeFileSync(path, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode })
}

/** A temporary folder, removed on disposal. */
export function openFolder(): Disposable & Readonly<{ path: string; data: string }> {
  const path = mkdtempSync(join(tmpdir(), 'daybook-damage-'))
  return {
    path,
    data: join(path, 'data'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Copies a log's directory and its key. */
export function copyLog(from: string, to: string): void {
  cpSync(from, to, { recursive: true })
  cpSync(defaultKeyFile(from), defaultKeyFile(to))
}

/** Changes a store without Daybook. */
export function change<T>(data: string, damage: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(storePath(data))
  try {
    return damage(db)
  } finally {
    db.close()
  }
}

/** The message with which a start refuses the log; undefined when it accepts it. */
export function refusalAtStart(data: string, signing: Signing = SIGNING): string | undefined {
  try {
    readyLog(data, NEW_LOG, signing)
    return undefined
  } catch (error) {
    if (error instanceof StoreError) return error.message
    throw error
  }
}

type CommandEnd = Readonly<{ code: ExitCode; said: string }>

/** Runs a command in this process. */
export async function runCommand(
  run: (context: CommandContext) => Promise<ExitCode> | ExitCode,
): Promise<CommandEnd> {
  const out = new PassThrough()
  const said = text(out)
  const context: CommandContext = {
    program: 'daybook',
    now: () => msOf(Date.UTC(2026, 5, 1)),
    monotonicMs: () => performance.now(),
    random: Math.random,
    stdout: out,
    stderr: out,
    interactive: false,
    sharesPorts: false,
    hasFileModes: true,
    isRoot: false,
    stop: new AbortController().signal,
  }
  try {
    const code = await run(context)
    out.end()
    return { code, said: await said }
  } finally {
    out.end()
  }
}

export function runCheck(data: string, keys: readonly SigningKey[] = [TEST_KEY]): Promise<CommandEnd> {
  return runCommand((context) => check({ data, keys }, context))
}

type BackupSettings = Parameters<typeof backUp>[0]

/** Backs up a log in this process, as `daybook backup` does without further options. */
export function runBackup(
  data: string,
  to: string,
  settings: Partial<BackupSettings> = {},
  now?: CommandContext['now'],
): Promise<CommandEnd> {
  const whole = { data, to, keepDays: 30, isFull: false, keys: [], ...settings }
  return runCommand((context) => backUp(whole, now === undefined ? context : { ...context, now }))
}

/** Flips a bit in the middle of a text or a blob. */
function flipBit(value: unknown): string | Uint8Array {
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value as Uint8Array)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  return typeof value === 'string' ? bytes.toString() : bytes
}

/** Flips a bit of one value of a table. */
export function flip(db: DatabaseSync, table: string, column: string, where: string): void {
  const row = db.prepare(`SELECT ${column} AS value FROM ${table} WHERE ${where}`).get()
  if (row === undefined || row['value'] === null)
    throw new Error(`nothing to damage: ${table}.${column}, ${where}`)
  db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(flipBit(row['value']))
}

/** Computes the leaves from `from` on and the hashes above them again, as an attacker without the key can. */
export function rebuildTree(db: DatabaseSync, from: number, levels: readonly number[]): void {
  const rows = db
    .prepare(
      'SELECT e.seq AS seq, e.line AS line, e.leaf AS leaf, d.line AS details FROM events e LEFT JOIN details d USING (seq) ORDER BY e.seq',
    )
    .all()
  const frontier = emptyFrontier()
  const update = db.prepare('UPDATE events SET leaf = ? WHERE seq = ?')
  const put = db.prepare('INSERT OR REPLACE INTO tree_hashes (level, n, hash) VALUES (?, ?, ?)')
  for (const { seq, line, leaf, details } of rows) {
    const isNew = Number(seq) >= from
    const hash = isNew
      ? HASHER.leaf(formatEntry(String(line), details === null ? null : String(details)))
      : (leaf as Uint8Array)
    if (isNew) update.run(hash, Number(seq))
    for (const made of appendLeaf(HASHER, frontier, hash)) {
      if (isNew && levels.includes(made.level)) put.run(made.level, made.index, made.hash)
    }
  }
}

/** Signs every commit that ends at `from` or later again, with another key. */
export function signAgain(db: DatabaseSync, from: number, key: SigningKey): void {
  const signer = openSigner(readIdentity(db).origin, [key])
  const rows = db.prepare('SELECT seq, leaf, signature FROM events ORDER BY seq').all()
  const frontier = emptyFrontier()
  for (const { seq, leaf, signature } of rows) {
    appendLeaf(HASHER, frontier, leaf as Uint8Array)
    if (signature === null || Number(seq) < from) continue
    const signed = signer.sign({ size: frontier.size, root: rootOf(HASHER, frontier) })
    db.prepare('UPDATE events SET signature = ? WHERE seq = ?').run(signed.signature, Number(seq))
  }
}
