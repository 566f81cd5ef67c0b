import { DatabaseSync } from 'node:sqlite'
import type { RecordedCall } from './power-disk.ts'

/** Options of the start that the operator repeats after a power cut. Paths are below the recorded folder. */
export type StartAgain = Readonly<{
  keyFiles?: readonly string[]
  acceptNewKey?: boolean
  acceptLoss?: boolean
  upgrade?: boolean
}>

/**
 * News for the outside world, in the order of the calls: the process begins, a log is served, drafts are imported,
 * published or held, a backup is there, a command begins or ends.
 */
export type Told =
  | Readonly<{ is: 'start'; start: StartAgain }>
  | Readonly<{ is: 'serving'; id: string; log: number }>
  | Readonly<{ is: 'imported'; head: number }>
  | Readonly<{ is: 'answered'; receipts: readonly ToldReceipt[] }>
  | Readonly<{ is: 'backup'; path: string; head: number }>
  | Readonly<{ is: 'command'; words: Expected['command'] }>

/** Outcome of a draft in an answer of the publish API. */
type ToldReceipt = Readonly<{ ref: string; status: string; seq?: number }>

/** All that a power cut at a moment must leave. */
export type Expected = Readonly<{
  start: StartAgain
  /** Id of the log that was served; null before. */
  id: string | null
  /** Number of the log, which rises when a loss is accepted, and its newest published event. */
  log: number
  head: number
  held: readonly string[]
  backups: ReadonlyMap<string, number>
  /** The command that runs, with `ROOT` for the recorded folder; null when none does. */
  command: readonly string[] | null
}>

export const NOTHING_TOLD: Expected = {
  start: {},
  id: null,
  log: 0,
  head: 0,
  held: [],
  backups: new Map(),
  command: null,
}

/** The call of a trace that notes what was told. */
export function formatTold(told: Told): string {
  return `${TOLD} 0 0 ${Buffer.from(JSON.stringify(told)).toString('base64url')}\n`
}

const TOLD = 'ack'
const ANSWER = 'answer'

/** News that the outside context was told by this call; undefined for a call of a program. */
export function toldOf({ call, path, bytes }: RecordedCall): Told | undefined {
  if (call === TOLD) return JSON.parse(Buffer.from(path, 'base64url').toString())
  const receipts = call === ANSWER ? receiptsIn(bytes) : []
  return receipts.length > 0 ? { is: 'answered', receipts } : undefined
}

/** Receipts in an answer of the publish API; none in another answer, or in one that was not sent in one piece. */
function receiptsIn(bytes: Uint8Array): readonly ToldReceipt[] {
  const [head = '', body = ''] = Buffer.from(bytes).toString().split('\r\n\r\n')
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (Number(length) !== Buffer.byteLength(body) || !body.startsWith('{"drafts":[')) return []
  const { drafts } = JSON.parse(body) as { drafts: readonly ToldReceipt[] }
  return drafts
}

/** The expectation after one more answer. */
export function afterTold(expected: Expected, told: Told): Expected {
  switch (told.is) {
    case 'start':
      return { ...expected, start: told.start }
    case 'serving':
      return { ...expected, id: told.id, log: told.log, head: told.log > expected.log ? 0 : expected.head }
    case 'imported':
      return { ...expected, head: told.head }
    case 'answered': {
      const seqs = told.receipts.flatMap(({ seq = 0, status }) => (status === 'published' ? [seq] : []))
      const held = told.receipts.flatMap(({ ref, status }) => (status === 'held' ? [ref] : []))
      return { ...expected, head: Math.max(expected.head, ...seqs), held: [...expected.held, ...held] }
    }
    case 'backup':
      return { ...expected, backups: new Map([...expected.backups, [told.path, told.head]]) }
    case 'command':
      return { ...expected, command: told.words }
  }
}

/** Events of a log, their refs by seq, and the sha-256 of its closed months. */
export type LogContent = Readonly<{
  id: string
  lines: readonly string[]
  refs: readonly string[]
  manifests: ReadonlyMap<string, string>
}>

/** Reads a store without Daybook. */
export function contentOf(store: string): LogContent {
  const db = new DatabaseSync(store, { readOnly: true })
  try {
    const rows = db
      .prepare(
        'SELECT e.seq AS seq, e.line AS line, r.ref AS ref FROM events e LEFT JOIN refs r USING (seq) ORDER BY e.seq',
      )
      .all()
    for (const [index, { seq }] of rows.entries())
      if (seq !== index + 1) throw new Error(`the event ${index + 1} is missing`)
    const months = db.prepare('SELECT month, manifest FROM months WHERE manifest IS NOT NULL').all()
    const id = db.prepare("SELECT value FROM meta WHERE key = 'id'").get()?.['value']
    return {
      id: String(id),
      lines: rows.map(({ line }) => String(line)),
      refs: rows.map(({ ref }) => String(ref)),
      manifests: new Map(months.map(({ month, manifest }) => [String(month), String(manifest)])),
    }
  } finally {
    db.close()
  }
}
