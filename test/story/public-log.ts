import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { keysOf } from '../../src/protocol/brand.ts'
import { formatDetails, formatDetailsLine } from '../../src/protocol/details.ts'
import { type Entry, formatEvent } from '../../src/protocol/event.ts'
import { type Month, monthOf, type Ms, msOf, nextMonth } from '../../src/protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../src/protocol/paths.ts'
import type { Books } from '../../src/project/fold/books.ts'
import { ANSWERS } from '../../src/project/answers/computed-answers.ts'
import { keyList, keyRow } from './key-list.ts'
import { computeAnswer, openMemoryLog } from './memory-log.ts'
import { formatCheckpoint } from '../../src/tlog/checkpoint.ts'
import { formatEntry } from '../../src/tlog/entries.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../src/tlog/frontier.ts'
import { type Hash, treeHasher } from '../../src/tlog/hash.ts'
import { inclusionProof } from '../../src/tlog/proof.ts'
import {
  formatBase64,
  formatNote,
  formatVkey,
  signText,
  type VerifierKey,
  verifierKey,
} from '../../src/tlog/note.ts'
import { formatReceipt } from '../../src/tlog/receipt.ts'
import { formatTile, parseTilePath, type Tile, TILE_WIDTH } from '../../src/tlog/tile.ts'
import { NODE_PRIMITIVES } from '../../src/command/terminal/node-primitives.ts'
import type { Source } from '../../src/verify/reading/source.ts'

export const ORIGIN = 'daybook.example/log'

/** A key pair of a log. */
export type LogKey = Readonly<{ key: VerifierKey; vkey: string; privateKey: KeyObject }>

export function newKey(origin: string = ORIGIN): LogKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const key = verifierKey(NODE_PRIMITIVES.sha256, origin, 'ed25519', new Uint8Array(raw))
  return { key, vkey: formatVkey(key), privateKey }
}

/** A note with this text, signed with these keys. */
export function signed(text: string, ...keys: readonly LogKey[]): string {
  const signatures = keys.map(({ key, privateKey }) =>
    signText(key, (message) => sign(null, message, privateKey), text),
  )
  return formatNote({ text, signatures })
}

/** The root of the first `size` entries. */
export function rootOver(entries: readonly Entry[], size: number): Hash {
  const hasher = treeHasher(NODE_PRIMITIVES.sha256)
  const frontier = emptyFrontier()
  for (const { event, details } of entries.slice(0, size)) {
    const detailsLine = details === null ? null : formatDetailsLine(event.seq, details)
    appendLeaf(hasher, frontier, hasher.leaf(formatEntry(formatEvent(event), detailsLine)))
  }
  return rootOf(hasher, frontier)
}

function tileOver(entries: readonly Entry[], { level, index, width }: Tile): Uint8Array {
  const under = TILE_WIDTH ** level
  const first = index * TILE_WIDTH
  const hashes = Array.from({ length: width }, (_, at) =>
    rootOver(entries.slice((first + at) * under, (first + at + 1) * under), under),
  )
  return formatTile(hashes)
}

export function checkpointOver(entries: readonly Entry[], size: number, ...keys: readonly LogKey[]): string {
  const origin = keys[0]?.key.name ?? ORIGIN
  return signed(formatCheckpoint({ origin, size, root: rootOver(entries, size), extensions: [] }), ...keys)
}

/** The public files and answers of a log by their path below `/api/v1/`. Tests can change each of them. */
export type PublicLog = Readonly<{
  key: LogKey
  /** The current moment of its answers. */
  now: Ms
  /** The unchanged body; undefined when there is none. */
  body(path: string): Uint8Array | undefined
  /** A service that answers with these bodies, after `change`. */
  source(change?: Change): Source
}>

export type Change = (path: string, body: Uint8Array | undefined) => Uint8Array | undefined

export function publicLog(
  entries: readonly Entry[],
  key: LogKey = newKey(),
  now: Ms = msOf((entries.at(-1)?.event.atMs ?? 0) + 90_000),
): PublicLog {
  const log = openMemoryLog()
  for (const entry of entries) log.add(entry)
  const books = log.books()
  const checkpoint = checkpointOver(entries, entries.length, key)
  const compute: PublicLog['body'] = (path) => {
    const tile = parseTilePath(path.replace(/^log\//, ''))
    if (tile !== undefined) return tileOver(entries, tile)
    const text = receiptOf(entries, path, checkpoint) ?? pageOf(entries, path) ?? answerOf(books, path, now)
    return text === undefined ? undefined : Buffer.from(text)
  }
  const bodies = new Map<string, Uint8Array | undefined>(archiveFiles(entries, key))
  bodies.set('log/keys', Buffer.from(keyList(ORIGIN, [keyRow(key)])))
  bodies.set('log/checkpoint', Buffer.from(checkpoint))
  const body: PublicLog['body'] = (path) => {
    if (!bodies.has(path)) bodies.set(path, compute(path))
    return bodies.get(path)
  }
  return { key, now, body, source: (change) => sourceOf(body, change) }
}

function receiptOf(entries: readonly Entry[], path: string, checkpoint: string): string | undefined {
  const index = Number(/^log\/proof\/(\d+)$/.exec(path)?.[1] ?? 0) - 1
  const hasher = treeHasher(NODE_PRIMITIVES.sha256)
  const proof = inclusionProof(hasher, index, entries.length, (tile) => tileOver(entries, tile))
  return proof && formatReceipt({ index, proof, checkpoint, extra: null })
}

function sourceOf(body: PublicLog['body'], change: Change = (_, found) => found): Source {
  return {
    is: 'service',
    read: async (path) => change(path, body(path)),
    months: async () => [],
    pause: async () => undefined,
  }
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

function archiveFiles(entries: readonly Entry[], key: LogKey): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  const rows: unknown[] = []
  let sums = ''
  const put = (name: string, bytes: Uint8Array | string): void => void files.set(name, Buffer.from(bytes))
  for (const month of monthsOf(entries)) {
    const own = entries.filter(({ event }) => monthOf(event.atMs) === month)
    const size = entries.filter(({ event }) => monthOf(event.atMs) <= month).length
    const lines = own.map(({ event }) => `${formatEvent(event)}\n`).join('')
    const detailsLines = own
      .flatMap(({ event, details }) => (details === null ? [] : `${formatDetailsLine(event.seq, details)}\n`))
      .join('')
    const [gzip, details] = [gzipSync(lines), gzipSync(detailsLines)]
    put(`archive/${month}.jsonl.gz`, gzip)
    put(`archive/${month}.details.jsonl.gz`, details)
    const [firstSeq, lastSeq] = own.length === 0 ? [null, null] : [size - own.length + 1, size]
    const closed = size < entries.length
    const files2 = `/api/v1/archive/${month}`
    rows.push({
      month,
      state: closed ? 'closed' : 'open',
      url: `${files2}.jsonl.gz`,
      detailsUrl: `${files2}.details.jsonl.gz`,
      parquetUrl: closed ? `${files2}.parquet` : null,
      bytes: closed ? gzip.length : null,
      events: own.length,
      firstSeq,
      lastSeq,
      sha256: closed ? sha256(gzip) : null,
      linesSha256: closed ? sha256(lines) : null,
    })
    if (!closed) continue
    sums += `${sha256(gzip)}  ${month}.jsonl.gz\n${sha256(details)}  ${month}.details.jsonl.gz\n`
    const manifest = {
      month,
      firstSeq,
      lastSeq,
      events: own.length,
      firstIndex: firstSeq === null ? null : firstSeq - 1,
      size,
      root: formatBase64(rootOver(entries, size)),
      checkpoint: checkpointOver(entries, size, key),
      lines: { bytes: lines.length, sha256: sha256(lines) },
      gzip: { bytes: gzip.length, sha256: sha256(gzip) },
      details: {
        bytes: details.length,
        sha256: sha256(details),
        lines: { bytes: detailsLines.length, sha256: sha256(detailsLines) },
      },
    }
    put(`archive/${month}.json`, JSON.stringify(manifest))
  }
  put('archive', JSON.stringify({ months: rows }))
  put('archive/SHA256SUMS', sums)
  return files
}

function monthsOf(entries: readonly Entry[]): readonly Month[] {
  const [first, last] = [entries[0], entries.at(-1)]
  const months: Month[] = []
  if (first === undefined || last === undefined) return months
  for (let month = monthOf(first.event.atMs); month <= monthOf(last.event.atMs); month = nextMonth(month)) {
    months.push(month)
  }
  return months
}

function pageOf(entries: readonly Entry[], path: string): string | undefined {
  const [, one, details] = /^events\/(\d+)(\/details)?$/.exec(path) ?? []
  const entry = entries[Number(one) - 1]
  if (entry !== undefined && details === undefined) return formatEvent(entry.event)
  if (entry !== undefined) return formatDetailsLine(entry.event.seq, entry.details)
  if (!path.startsWith('events?')) return undefined
  const query = new URLSearchParams(path.slice('events?'.length))
  const limit = Number(query.get('limit') ?? 1000)
  const after = Number(query.get('after') ?? 0)
  const before = Number(query.get('before') ?? entries.length + 1)
  const type = query.get('type')
  const asked = entries.slice(after, before - 1).filter(({ event }) => type === null || event.type === type)
  const found = (query.get('order') === 'desc' ? asked.toReversed() : asked).slice(0, limit)
  const members = found.map(({ event, details: own }) => own && `"${event.seq}":${formatDetails(own)}`)
  const further = query.has('details') ? `"details":{${members.filter(Boolean).join(',')}},` : ''
  const scannedTo = found.at(-1)?.event.seq ?? after
  const next = found.length < asked.length ? `/api/v1/events?after=${scannedTo}` : null
  const page = { scannedTo, hasMore: next !== null, next }
  return `{"events":[${found.map(({ event }) => formatEvent(event)).join(',')}],${further}"page":${JSON.stringify(page)}}`
}

/** Computes an answer with the functions of the service, over another fold than the verifier's. */
function answerOf(books: Books, path: string, now: Ms): string | undefined {
  const [name = '', text = ''] = path.split('?')
  for (const endpoint of keysOf(ANSWERS)) {
    const form = ENDPOINT_PATHS[endpoint].replace('/api/v1/', '').replace(/\{(\w+)\}/, '(?<$1>\\d+)')
    const found = new RegExp(`^${form}$`).exec(name)
    if (found === null) continue
    const answer = computeAnswer(books, endpoint, { segments: { ...found.groups }, query: text, now })
    return answer.ok ? JSON.stringify(answer.value) : undefined
  }
  return undefined
}
