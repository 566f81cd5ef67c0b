import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bulkLines } from '../sim/bulk.ts'
import { msOf } from '../src/protocol/moment.ts'
import { table } from './stage/report.ts'
import { openDrillReaders } from './stage/drill-readers.ts'

/**
 * An upgrade as an operator does it: a service with streams, readers and a publisher; an upgrade beside it; the stop of
 * the service; the start of the new one. Prints what readers and publishers have missed. Without `--old` the present
 * version is also the old one, and builds its store again. `--old` is `src/main.ts` of an older clone.
 */

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')
const TOKEN = 'a-token-of-the-drill-that-is-long-enough-0123456789'
/** Longest time of the whole drill. */
const DRILL_MS_MAX = 40 * 60_000
/** Time in which readers and the publisher go on before and after the upgrade. */
const AROUND_MS = 5_000
const SAMPLE_MS = 100

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    data: { type: 'string' },
    old: { type: 'string' },
    streams: { type: 'string', default: '20' },
    drain: { type: 'string', default: '1' },
    port: { type: 'string', default: '18080' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'daybook-drill-'))
const data = values.data ?? join(folder, 'data')
const url = `http://127.0.0.1:${values.port}`
const door = `http://127.0.0.1:${Number(values.port) + 1}`
const oldMain = values.old ?? MAIN
const children: ReturnType<typeof run>[] = []

/** Starts a command of Daybook. */
function run(main: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const run_ = { child, said: '', peakBytes: 0, ended: once(child, 'exit') }
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (run_.said += text))
  return run_
}

function start(main: string, ...words: readonly string[]): ReturnType<typeof run> {
  const started = run(main, ...words)
  children.push(started)
  return started
}

const serving = ['--data', data, '--port', values.port, '--publish-port', String(Number(values.port) + 1)]
const settings = [
  '--trust-proxy',
  '127.0.0.1/32',
  '--rate-limit',
  'off',
  '--drain',
  values.drain,
  '--publish-token-file',
  join(folder, 'token'),
]

async function makeLog(): Promise<void> {
  const file = join(folder, 'drafts.jsonl')
  const span = { from: msOf(Date.UTC(2016, 0, 1)), to: msOf(Date.UTC(2026, 9, 1)) }
  const lines = bulkLines({ seed: 'drill', ...span, count: Number(values.events) })
  await pipeline(
    Readable.from(lines).map((line: string) => `${line}\n`),
    createWriteStream(file),
  )
  const made = start(oldMain, 'import', file, '--data', data, '--origin', 'daybook.example/drill')
  const [code] = await made.ended
  if (code !== 0) throw new Error(`the import failed:\n${made.said}`)
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  const end = performance.now() + DRILL_MS_MAX
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(`${what} takes too long`)
    for (const { child, said } of children)
      if ((child.exitCode ?? 0) !== 0) throw new Error(`a command failed:\n${said.slice(-2_000)}`)
    await sleep(20)
  }
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function sampleMemory(one: ReturnType<typeof run>): void {
  const status = `/proc/${one.child.pid}/status`
  if (one.child.exitCode !== null || !existsSync(status)) return
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1]
  if (peak !== undefined) one.peakBytes = Number(peak) * 1_024
}

async function drill(): Promise<void> {
  if (!existsSync(join(data, 'daybook.db'))) await makeLog()
  writeFileSync(join(folder, 'token'), TOKEN)
  const store = join(data, 'daybook.db')
  const oldBytes = bytesOf(store)
  const old = start(oldMain, 'serve', ...serving, ...settings)
  await until(() => old.said.includes('listening') || old.said.includes('"ready"'), 'the start')
  const readers = await openDrillReaders({ url, door, token: TOKEN, streams: Number(values.streams) })
  await sleep(AROUND_MS)

  const seen = { wal: 0, disk: 0 }
  const begun = performance.now()
  const upgrading =
    values.old === undefined
      ? start(MAIN, 'upgrade', '--data', data, '--rebuild', '--wait', '600')
      : start(MAIN, 'serve', ...serving, ...settings, '--upgrade')
  const sampling = setInterval(() => {
    seen.wal = Math.max(seen.wal, bytesOf(`${store}-wal`))
    seen.disk = Math.max(seen.disk, bytesOf(`${store}.upgrading`) + bytesOf(`${store}.upgrading-journal`))
    sampleMemory(upgrading)
  }, SAMPLE_MS)
  await until(() => upgrading.said.includes('stop the service'), 'building the new store')
  const builtMs = performance.now() - begun
  await sleep(AROUND_MS)
  clearInterval(sampling)
  const stopMs = performance.now()
  const stopping = old.ended.then(() => performance.now() - stopMs)
  old.child.kill('SIGTERM')
  if (values.old === undefined) {
    await upgrading.ended
    start(MAIN, 'serve', ...serving, ...settings)
  }
  const stoppedMs = await stopping
  await until(() => readers.isAnsweredSince(), 'the start of the new service')
  await sleep(AROUND_MS)
  const report = await readers.end()
  const serviceNow = children.at(-1)
  serviceNow?.child.kill('SIGTERM')
  await serviceNow?.ended

  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
  const rows = [
    ['events of the log', String(report.head)],
    ['building and proving, beside the service', `${(builtMs / 1_000).toFixed(0)} s`],
    ['events a second', String(Math.round(report.head / (builtMs / 1_000)))],
    ['stop of the old service', `${(stoppedMs / 1_000).toFixed(2)} s`],
    ['longest break for readers', `${(report.breakMs / 1_000).toFixed(2)} s`],
    ['requests answered, and refused or failed', `${report.answered}, ${report.failed}`],
    ['streams; events lost, doubled', `${values.streams}; ${report.lost}, ${report.doubled}`],
    [
      'events published meanwhile; lost, doubled',
      `${report.published}; ${report.publishedLost}, ${report.publishedDoubled}`,
    ],
    ['longest wait of a publication', `${(report.publishMs / 1_000).toFixed(2)} s`],
    ['old store, new store', `${megabytes(oldBytes)}, ${megabytes(bytesOf(store))}`],
    ['largest write-ahead log of the old store', megabytes(seen.wal)],
    ['largest file while building', megabytes(seen.disk)],
    ['peak memory of the upgrade', megabytes(upgrading.peakBytes)],
  ]
  process.stdout.write(`${table(['', 'Measured'], rows)}\n`)
}

try {
  await drill()
} finally {
  for (const { child } of children) if (child.exitCode === null) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
