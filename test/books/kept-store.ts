import { isUtf8 } from 'node:buffer'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { defaultKeyFile, readKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { VERSION } from '../../src/command/terminal/version.ts'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { type NewLog, STORE_FILE } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { keysOf } from '../../src/protocol/brand.ts'
import { ENDPOINT_PATHS, type EndpointId, pathParts } from '../../src/protocol/paths.ts'
import { type ManualNode, startManualNode } from '../stage/manual-node.ts'

/** Folder of test stores, one for each schema: a store that its Daybook wrote, the key, and recorded answers. */
const STORES: string = join(import.meta.dirname, '..', 'stores')

/** The log of every kept store, and the moment of all questions. */
export const KEPT_LOG: NewLog = { origin: 'daybook.example/kept', chain: 'solana', simulated: false }
const KEPT_NOW: number = Date.UTC(2026, 3, 20, 12, 0, 30, 500)

const KEY_FILE = 'signing.key'
const PACKED_STORE_FILE = `${STORE_FILE}.br`
const ANSWERS_FILE = 'answers.jsonl.br'
const WINDOW = { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } }
const OWNER_ONLY = 0o600

/** The schemas with a kept store. */
export function keptSchemas(): readonly number[] {
  return readdirSync(STORES, { withFileTypes: true })
    .filter((found) => found.isDirectory())
    .map(({ name }) => Number(name))
    .toSorted((a, b) => a - b)
}

/** A kept store in a temporary directory, removed on disposal. */
type KeptStore = Disposable &
  Readonly<{ data: string; keys: readonly SigningKey[]; serve(): Promise<ManualNode> }>

/** Unpacks the store of a schema. */
export function unpackKept(schema: number): KeptStore {
  const from = join(STORES, String(schema))
  const folder = mkdtempSync(join(tmpdir(), 'daybook-kept-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  writeFileSync(join(data, STORE_FILE), brotliDecompressSync(readFileSync(join(from, PACKED_STORE_FILE))))
  copyFileSync(join(from, HIGH_WATER_FILE), join(data, HIGH_WATER_FILE))
  copyFileSync(join(from, KEY_FILE), defaultKeyFile(data))
  // Git does not keep file modes, and a key that others may read is refused.
  chmodSync(defaultKeyFile(data), OWNER_ONLY)
  const keys = [readKeyFile(defaultKeyFile(data), { hasFileModes: true })]
  return {
    data,
    keys,
    serve: () => startManualNode(data, KEPT_LOG, keys, msOf(KEPT_NOW)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

/** Packs the directory of a stopped service, with its newest key. */
export function packStore(schema: number, data: string, keyFile: string): void {
  const to = join(STORES, String(schema))
  mkdirSync(to)
  const store = readFileSync(join(data, STORE_FILE))
  writeFileSync(join(to, PACKED_STORE_FILE), brotliCompressSync(store, WINDOW))
  copyFileSync(join(data, HIGH_WATER_FILE), join(to, HIGH_WATER_FILE))
  copyFileSync(keyFile, join(to, KEY_FILE))
}

/** A recorded answer: the body of a 200, or a stream up to its live position. */
export type KeptAnswer = Readonly<{ path: string; body: Buffer }>

export function readAnswers(schema: number): readonly KeptAnswer[] {
  const lines = brotliDecompressSync(readFileSync(join(STORES, String(schema), ANSWERS_FILE))).toString()
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { path, text, base64 } = JSON.parse(line)
      return { path, body: text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text) }
    })
}

export function writeAnswers(schema: number, answers: readonly KeptAnswer[]): void {
  const lines = answers.map(({ path, body }) =>
    JSON.stringify(
      isUtf8(body) ? { path, text: body.toString() } : { path, base64: body.toString('base64') },
    ),
  )
  const packed = brotliCompressSync(`${lines.join('\n')}\n`, WINDOW)
  writeFileSync(join(STORES, String(schema), ANSWERS_FILE), packed)
}

export function isKept(schema: number): boolean {
  return existsSync(join(STORES, String(schema), PACKED_STORE_FILE))
}

/** Requests one path. Replaces the version in the status, which changes with a release. */
export async function ask(service: ManualNode, path: string): Promise<KeptAnswer> {
  const body = await service.bytesOf(path)
  if (path !== ENDPOINT_PATHS.status) return { path, body }
  return { path, body: Buffer.from(body.toString().replace(`"${VERSION}"`, '"0.0.0"')) }
}

const MARCH = 'from=2026-03-01&to=2026-04-01'
const TX = 'hY7LDEniY1gNungY84ouroeGssYaxm6ze6VNisEiwc1sZZi1bNs6nhFjas95ZDYVCnaLDPcNFWvrfxYbaNYdaNu'

/**
 * Requests of an endpoint: a suffix of its path, or a whole path. An endpoint that is not listed is requested by its path
 * alone, if that has no variable part. The two descriptions of the interface do not depend on a store.
 */
const ASKED: Readonly<Partial<Record<EndpointId, readonly string[]>>> = {
  summary: ['', '?at=2026-03-03T12:00Z', '?at=2026-04-12T10:07Z', '?at=2026-02-01'],
  contests: [
    '',
    '?status=closed&limit=1',
    '?status=running,upcoming',
    '?sort=pool',
    '?sort=closesAt&status=upcoming,paid',
    '?outcome=lapsed,cancelled',
    '?q=NACHT',
    '?format=csv',
  ],
  contest: ['/contests/1', '/contests/3', '/contests/4', '/contests/5'],
  contestLedger: ['/contests/1/ledger', '/contests/3/ledger', '/contests/4/ledger?limit=2'],
  payouts: ['', '?contestId=3', '?contestId=3,4&kind=winner,runner_up', '?limit=1'],
  waits: ['', '?from=2026-03-01&to=2026-04-01'],
  flows: [
    '',
    `?${MARCH}&bucket=day`,
    '?bucket=minute&from=2026-04-20T10:00Z&to=2026-04-20T10:10Z',
    '?from=2026-03-01&to=2026-04-20&bucket=week',
    '?bucket=month',
    '?from=2026-01-31&to=2026-04-01&bucket=month',
    '?from=2026-03-01&to=2026-04-20&bucket=week&by=kind',
  ],
  funds: ['', `?${MARCH}&bucket=day`, '?from=2026-04-01&to=2026-04-20&bucket=day', '?bucket=month'],
  events: [
    '?limit=80',
    '?order=desc&limit=60',
    '?type=payout,correction&nonzero=1&order=desc&before=60&limit=15',
    '?from=2026-03-05T09:00:30.500Z&to=2026-03-06T11:01Z&kind=runner_up',
    '?contestId=3&limit=100',
    `?tx=${TX}`,
    '?after=4300&limit=50&format=csv',
  ],
  event: ['/events/13', '/events/4200', '/events/68'],
  eventDetails: ['/events/24/details', '/events/4/details'],
  eventCorrections: ['/events/13/corrections', '/events/26/corrections', '/events/4200/corrections'],
  patterns: ['', '?tz=330', `?${MARCH}`, '?from=2026-03-01&to=2026-04-20&tz=-480'],
  archiveFile: [
    '/archive/2026-03.jsonl.gz',
    '/archive/2026-03.details.jsonl.gz',
    '/archive/2026-03.json',
    '/archive/2026-04.jsonl.gz',
    '/archive/2026-04.details.jsonl.gz',
    '/archive/SHA256SUMS',
  ],
  // The log has no witnesses.
  logWitnessedCheckpoint: [],
  logTile: ['/log/tile/0/000', '/log/tile/0/016', '/log/tile/0/017.p/3', '/log/tile/1/000.p/17'],
  logEntries: ['/log/tile/entries/000', '/log/tile/entries/017.p/40'],
  logProof: ['/log/proof/13', '/log/proof/4096'],
  stream: ['?after=4450', '?after=4450#ndjson', '?after=0&type=price,correction,hold'],
  eventType: ['/event-types/correction'],
  openapi: [],
  asyncapi: [],
}

/** All paths that are requested of a kept store. */
export function askedPaths(): readonly string[] {
  return keysOf(ENDPOINT_PATHS).flatMap((id) => {
    const path = ENDPOINT_PATHS[id]
    const asked = ASKED[id] ?? (pathParts(path).length === 0 ? [''] : [])
    return asked.map((rest) => (rest.startsWith('/') ? `/api/v1${rest}` : `${path}${rest}`))
  })
}
