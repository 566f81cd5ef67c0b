import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openReader } from '../src/log/open-reader.ts'
import { storePath } from '../src/log/store/store.ts'
import { seqOf } from '../src/protocol/seq.ts'
import { share } from './stage/measure.ts'
import { connectPublishers, openingDrafts, type Published, type Publishers } from './publish/publish-load.ts'
import { type PublishNode, startPublishNode } from './publish/publish-node.ts'
import { pageNames, readWal, shapeOf, type WalRound } from './publish/publish-wal.ts'
import { table, thousands } from './stage/report.ts'

/** Measures a durable publish, and a bare loop that writes the same lines to a file and syncs it. */

const HELP = `node bench/publish.ts [--disk DIR] [--rounds 5]

  --disk DIR   a directory on the disk that is measured (default: the system's directory for temporary files)
  --rounds N   rounds, bare loop and service by turns; the median counts
`
const PUBLISHERS = 32
const BATCH = 100
const SLICE_MS = 800
const WARM_UP_MS = 1_500
/** Slices of single-event commits are short, so that the write-ahead log is seldom reset within one. */
const COMMITS_SLICE_MS = 150
const COMMITS_SLICES = 20
/** Number of most frequent page sets to print. */
const SHAPES = 6
/** Published lines that the bare loop repeats. */
const LINES = 2_000
const GOALS = { single: 0.7, batch: 0.15, commitBytes: 24 * 1024, walBytes: 64 * 1024 * 1024 }

/** One turn: the bare loop, then the service. */
type Turn = Readonly<{ floor: Floor | null; own: Published; cpuMs: number }>
type Floor = Readonly<{ syncs: number; lines: number; longestMs: number }>

const { values } = parseArgs({
  options: {
    disk: { type: 'string', default: tmpdir() },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
})
process.stdout.write(values.help ? HELP : `${await run(values.disk, Number(values.rounds))}\n`)

async function run(disk: string, rounds: number): Promise<string> {
  const directory = mkdtempSync(join(disk, 'daybook-bench-publish-'))
  try {
    const floor = buildFloor(directory)
    const data = join(directory, 'data')
    await using service = await startPublishNode(data)
    using publishers = await connectPublishers(service.doorPort, service.token, PUBLISHERS)
    await publishers.send(openingDrafts(Date.now()))
    for (const drafts of [1, BATCH]) await publishers.publish(drafts, WARM_UP_MS)
    writeLines(data, join(directory, 'lines'))
    let walBytes = 0
    const singles: Turn[] = []
    const batches: Turn[] = []
    for (let round = 0; round < rounds; round++) {
      singles.push(await turn(floor, service, publishers, 1))
      batches.push(await turn(floor, service, publishers, BATCH))
      walBytes = Math.max(walBytes, service.walBytes())
    }
    const commits = await commitsOfOne(service)
    await service[Symbol.asyncDispose]()
    return reportOf(singles, batches, walBytes) + commitsReport(commits, pageNames(storePath(data)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The compiled bare loop; null without a compiler. */
function buildFloor(directory: string): ((drafts: number) => Floor) | null {
  const path = join(directory, 'floor')
  const source = new URL('publish/publish-floor.c', import.meta.url).pathname
  if (spawnSync('cc', ['-O2', '-o', path, source], { stdio: 'inherit' }).status !== 0) return null
  return (drafts) => {
    const file = join(directory, 'floor.out')
    const flags = [file, join(directory, 'lines'), String(drafts), String(SLICE_MS)]
    const [syncs = 0, lines = 0, seconds = 1, longestMs = 0] = execFileSync(path, flags)
      .toString()
      .split(' ')
      .map(Number)
    rmSync(file)
    return { syncs: syncs / seconds, lines: lines / seconds, longestMs }
  }
}

/** Writes published lines to a file, for the bare loop. */
function writeLines(data: string, path: string): void {
  const reader = openReader(data, null)
  const lines = reader.snapshot(({ head, line }) =>
    Array.from({ length: LINES }, (_, index) => Buffer.from(line(seqOf(head.seq - index)) ?? '').toString()),
  )
  reader.close()
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
}

async function turn(
  floor: ((drafts: number) => Floor) | null,
  service: PublishNode,
  publishers: Publishers,
  drafts: number,
): Promise<Turn> {
  const bare = floor?.(drafts) ?? null
  const before = service.cpuMs()
  const own = await publishers.publish(drafts, SLICE_MS)
  return { floor: bare, own, cpuMs: service.cpuMs() - before }
}

/** Writes of single-event commits: the pages of each in the write-ahead log, and all bytes with checkpoints. */
type Commits = Readonly<{ frameBytes: number; pages: readonly (readonly number[])[]; allBytes: number }>

async function commitsOfOne(service: PublishNode): Promise<Commits> {
  using publisher = await connectPublishers(service.doorPort, service.token, 1, 'one')
  await publisher.publish(1, COMMITS_SLICE_MS)
  const before = readWal(service.walPath)
  const beganBytes = service.writtenBytes()
  const rounds = new Map<bigint, WalRound>()
  let requests = 0
  for (let slice = 0; slice < COMMITS_SLICES; slice++) {
    requests += (await publisher.publish(1, COMMITS_SLICE_MS)).requests
    const round = readWal(service.walPath)
    rounds.set(round.salt, round)
  }
  // The first round also contains earlier commits, which are skipped.
  const pages = [...rounds.values()].flatMap(({ salt, commits }) =>
    salt === before.salt ? commits.slice(before.commits.length) : commits,
  )
  return {
    frameBytes: before.frameBytes,
    pages,
    allBytes: (service.writtenBytes() - beganBytes) / requests,
  }
}

function commitsReport({ frameBytes, pages, allBytes }: Commits, nameOf: (page: number) => string): string {
  const kib = (bytes: number): string => (bytes / 1024).toFixed(1)
  const bytes = pages.map(({ length }) => length * frameBytes)
  const p99 = share(bytes, 0.99)
  const shapes = new Map<string, { count: number; bytes: number }>()
  for (const commit of pages) {
    const shape = shapeOf(commit, nameOf)
    shapes.set(shape, { count: (shapes.get(shape)?.count ?? 0) + 1, bytes: commit.length * frameBytes })
  }
  const frequent = [...shapes].toSorted(([, a], [, b]) => b.count - a.count)
  const largest = [...shapes].toSorted(([, a], [, b]) => b.bytes - a.bytes).slice(0, 1)
  const shown = [...new Map([...frequent.slice(0, SHAPES), ...largest])]
  return [
    `A commit of one event (${thousands(pages.length)} of them) writes ${kib(share(bytes, 0.5))} KiB into the write-ahead log in the median, ${kib(mean(bytes))} in the mean, ${kib(p99)} in 99 of 100 (goal ${kib(GOALS.commitBytes)}: ${p99 <= GOALS.commitBytes ? 'OK' : 'OVER'}), ${kib(share(bytes, 1))} at most; with the checkpoints ${kib(allBytes)}. What it writes, most often first and the largest last, as pages of each table: a page that is full is split, and takes its neighbours and the page above along.`,
    '',
    table(
      ['pages', 'KiB', 'of 1,000 commits'],
      shown.map(([shape, of]) => [shape, kib(of.bytes), ((of.count / pages.length) * 1_000).toFixed(1)]),
    ),
    '',
  ].join('\n')
}

function reportOf(singles: readonly Turn[], batches: readonly Turn[], walBytes: number): string {
  const columns = [
    'what',
    'Daybook',
    'bare loop',
    'ratio',
    'goal',
    'held',
    'CPU µs per draft',
    'p50 ms',
    'p99 ms',
  ]
  const rows = [
    row('requests of one draft per second, to fdatasyncs', singles, 'syncs', GOALS.single),
    row(`drafts per second, ${BATCH} a request, to lines`, batches, 'lines', GOALS.batch),
  ]
  return [
    `## Durable publishing, ${PUBLISHERS} publishers at once`,
    '',
    `Each waits for its acknowledgement, which comes when its events are on the disk, then sends the next. The bare loop is in C: it writes the same lines to a file on the same disk and calls fdatasync after each, or after each ${BATCH}. They take turns of ${SLICE_MS} ms, ${singles.length} rounds; the median of the rounds counts, of the ratios too. Processor time is that of the whole service. p50 and p99: from the request to its acknowledgement.`,
    '',
    table(columns, rows),
    '',
    `The write-ahead log was never longer than ${(walBytes / 2 ** 20).toFixed(1)} MiB (goal ${GOALS.walBytes / 2 ** 20}: ${walBytes < GOALS.walBytes ? 'OK' : 'OVER'}).`,
    '',
    '',
  ].join('\n')
}

function row(name: string, turns: readonly Turn[], unit: 'syncs' | 'lines', goal: number): readonly string[] {
  const rates = turns.map(({ own }) => own.drafts / own.seconds)
  const floors = turns.map(({ floor }) => floor?.[unit] ?? Number.NaN)
  const ratio = share(
    rates.map((rate, index) => rate / (floors[index] ?? Number.NaN)),
    0.5,
  )
  const cpu = share(
    turns.map(({ cpuMs, own }) => (cpuMs * 1000) / own.drafts),
    0.5,
  )
  const latencies = turns.flatMap(({ own }) => own.latenciesMs)
  const bare = share(floors, 0.5)
  return [
    name,
    thousands(Math.round(share(rates, 0.5))),
    Number.isNaN(bare) ? 'no C compiler' : thousands(Math.round(bare)),
    Number.isNaN(ratio) ? '' : ratio.toFixed(2),
    `≥ ${goal}`,
    Number.isNaN(ratio) ? '' : ratio >= goal ? 'OK' : 'UNDER',
    cpu.toFixed(0),
    share(latencies, 0.5).toFixed(1),
    share(latencies, 0.99).toFixed(1),
  ]
}

function mean(samples: readonly number[]): number {
  return samples.reduce((a, b) => a + b, 0) / samples.length
}
