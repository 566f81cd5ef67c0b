import { hash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import zlib from 'node:zlib'

/**
 * Preloaded into every process of a run of the tests (`--import`). It looks for wallet addresses in every byte that a
 * public listener of ours sends, before compression, and writes what it found below the folder of its `to` parameter.
 * A finding has the hash of the address, never the address.
 */
const FOLDER = new URL(import.meta.url).searchParams.get('to') ?? ''
const FILE = join(FOLDER, `${process.pid}-${threadId}.jsonl`)

/** Characters of the shortest run of letters and digits that is looked at. */
const RUN_CHARS_MIN = 26
/** Different runs of a process that are remembered, so that the guard sees each once. */
const RUNS_MAX = 100_000
/** Bytes after which a process notes its count, because it may be killed. */
const NOTED_BYTES = 4 * 1024 * 1024
const HEAD_BYTES = 4_096

const membersOf = (characters: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => (characters.test(String.fromCharCode(code)) ? 1 : 0))
const ALNUM = membersOf(/[0-9A-Za-z]/)
const BASE64_CHARACTERS = membersOf(/[0-9A-Za-z+/]/)
/** A digest, or a transaction of Solana: 64 bytes in base58. */
const HONEST = /^(?:0x)?[0-9a-fA-F]{64,}$|^[1-9A-HJ-NP-Za-km-z]{86,88}$/
/** Signs of base64 around a run of letters and digits, such as in a signature. A slash may be of a path. */
const BASE64 = /[+=]/
/** A public answer of ours. Answers of the private listener have no policy for browsers. */
const OURS =
  /^HTTP\/1\.1 [^]*(?:Content-Security-Policy|Access-Control-Allow-Origin): [^]*Daybook-|^HTTP\/1\.1 [^]*Daybook-[^]*Content-Security-Policy: /
/** Texts in base64 or with the text of a search field. */
const LEFT_OUT = /^\/api\/v1\/(?:log\/|archive\/[^/]+\.json$)|^\/find\b/
const FIND_PAGE = 'action="/find"'

type Guard = Readonly<{ findsAddress(text: string, place: 'url'): boolean }>
let guard: Guard | undefined
const runs = new Set<string>()
let bytesSeen = 0
let bytesNoted = 0

function note(line: object): void {
  appendFileSync(FILE, `${JSON.stringify(line)}\n`)
}

function noteBytes(): void {
  if (bytesSeen > bytesNoted) note({ bytes: bytesSeen - bytesNoted })
  bytesNoted = bytesSeen
}

/** Looks for addresses in some bytes. Only every 26th is read where no long run of letters and digits is. */
function scan(bytes: Uint8Array, where: string): void {
  bytesSeen += bytes.length
  if (bytesSeen - bytesNoted > NOTED_BYTES) noteBytes()
  for (let at = RUN_CHARS_MIN - 1; at < bytes.length; at += RUN_CHARS_MIN) {
    if (ALNUM[bytes[at] ?? 0] === 0) continue
    let from = at
    while (from > 0 && ALNUM[bytes[from - 1] ?? 0] === 1) from -= 1
    let to = at + 1
    while (to < bytes.length && ALNUM[bytes[to] ?? 0] === 1) to += 1
    if (to - from >= RUN_CHARS_MIN) look(bytes, from, to, where)
    at = Math.max(at, to - 1)
  }
}

function look(bytes: Uint8Array, from: number, to: number, where: string): void {
  const run = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
  if (HONEST.test(run) || runs.has(run)) return
  if (BASE64.test(wordAround(bytes, from, to))) return
  if (runs.size < RUNS_MAX) runs.add(run)
  guard ??= createRequire(import.meta.url)('../../src/protocol/address-guard.ts') as Guard
  if (!guard.findsAddress(run, 'url')) return
  note({
    found: hash('sha256', run).slice(0, 16),
    characters: run.length,
    where,
    by: programOf(process.argv),
  })
}

/** The run with all characters of base64 beside it, and one more on each side. */
function wordAround(bytes: Uint8Array, from: number, to: number): string {
  let [first, end] = [from - 1, to]
  while (first >= 0 && BASE64_CHARACTERS[bytes[first] ?? 0] === 1) first -= 1
  while (end < bytes.length && BASE64_CHARACTERS[bytes[end] ?? 0] === 1) end += 1
  return Buffer.from(bytes.subarray(Math.max(0, first), end + 1)).toString('latin1')
}

/** The program of a process and its command, without its other words. */
function programOf([, program = '', command = '']: readonly string[]): string {
  return `${program.endsWith('.ts') ? program : ''} ${/^[a-z]{1,12}$/.test(command) ? command : ''}`.trim()
}

const bytesOf = (data: unknown, encoding?: BufferEncoding): Uint8Array | undefined => {
  if (typeof data === 'string') return Buffer.from(data, encoding)
  return data instanceof Uint8Array ? data : undefined
}

type Written = Readonly<{ chunk: unknown; encoding: BufferEncoding }>
type Sending = Socket & { server?: unknown; _httpMessage?: { req?: { url?: string } } | null }
const judged = new WeakMap<Socket, boolean>()

/** Scans what a connection to a public listener of ours sends. */
function scanSent(socket: Sending, chunks: readonly Written[]): void {
  if (socket.server === undefined) return
  let ours = judged.get(socket)
  if (ours === undefined) {
    const first = chunks.map(({ chunk, encoding }) => bytesOf(chunk, encoding) ?? new Uint8Array())
    ours = OURS.test(Buffer.concat(first).subarray(0, HEAD_BYTES).toString('latin1'))
    judged.set(socket, ours)
  }
  const url = socket._httpMessage?.req?.url ?? ''
  if (!ours || LEFT_OUT.test(url)) return
  for (const { chunk, encoding } of chunks) {
    const bytes = bytesOf(chunk, encoding)
    if (bytes !== undefined) scan(bytes, url.split('?', 1)[0]?.slice(0, 60) ?? '')
  }
}

type WriteGeneric = (
  this: Sending,
  many: boolean,
  data: unknown,
  encoding: BufferEncoding,
  done: unknown,
) => unknown
const net = Socket.prototype as unknown as { _writeGeneric: WriteGeneric }
const written = net._writeGeneric
net._writeGeneric = function scanned(many, data, encoding, done) {
  scanSent(this, many ? (data as readonly Written[]) : [{ chunk: data, encoding }])
  return written.call(this, many, data, encoding, done)
}

/** Scans what is compressed for a browser or a client, before it is. */
function scanCompressed(
  name: 'gzip' | 'gzipSync' | 'brotliCompress' | 'brotliCompressSync' | 'zstdCompress' | 'zstdCompressSync',
): void {
  const compress = zlib[name] as (...words: unknown[]) => unknown
  const scanned = (...words: unknown[]): unknown => {
    const bytes = bytesOf(words[0])
    if (bytes !== undefined && !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(FIND_PAGE))
      scan(bytes, 'a compressed answer')
    return compress(...words)
  }
  // Keeps what promisify reads.
  Object.defineProperties(scanned, Object.getOwnPropertyDescriptors(compress))
  Object.assign(zlib, { [name]: scanned })
}
for (const name of [
  'gzip',
  'gzipSync',
  'brotliCompress',
  'brotliCompressSync',
  'zstdCompress',
  'zstdCompressSync',
] as const)
  scanCompressed(name)
syncBuiltinESMExports()
process.on('exit', noteBytes)
