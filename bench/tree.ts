import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { type Appender, openAppender } from '../src/log/append.ts'
import { createStore, openForBulk, openForWriting, storePath } from '../src/log/store/store.ts'
import type { TreeWriter } from '../src/log/tree/tree-writer.ts'
import { msOf } from '../src/protocol/moment.ts'
import { draftDigest, parseDraft } from '../src/publish/admission/grammar.ts'
import { HASH_BYTES } from '../src/tlog/hash.ts'
import { testSigner } from '../test/story/signing.ts'
import { bigDrafts } from './stage/big-drafts.ts'
import { share } from './stage/measure.ts'
import { table } from './stage/report.ts'

// Measures the cost of the signed tree: appends the same drafts to a log with it and to one without, in turns.

/** Slices of each commit size. The median counts. */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const ROUNDS = Number(values.rounds)
const GOAL = 1.3
const DRAFTS = 400_000
const FROM = msOf(Date.UTC(2023, 0, 1))
const TO = msOf(Date.UTC(2025, 11, 31))

type Commits = Readonly<{ name: string; durable: boolean; events: number; commits: number }>

const KINDS: readonly Commits[] = [
  { name: 'commits of one event, synced', durable: true, events: 1, commits: 60 },
  { name: 'commits of 100 events, synced', durable: true, events: 100, commits: 10 },
  { name: 'as an import appends: no sync, one signature', durable: false, events: 10_000, commits: 1 },
]

/** A tree writer that does nothing: leaves of zeros, no hashes, no signatures. */
const noTree = (): TreeWriter => ({
  add: () => ({ leaf: new Uint8Array(HASH_BYTES), completed: [], signature: null }),
  root: () => new Uint8Array(HASH_BYTES),
  keep: () => undefined,
  drop: () => undefined,
  sign: () => undefined,
  checkpoint: () => '',
  reload: () => undefined,
})

type Candidate = Readonly<{ appender: Appender; db: DatabaseSync; next: () => void }>

const directory = mkdtempSync(join(tmpdir(), 'daybook-bench-tree-'))
try {
  process.stdout.write(`${run()}\n`)
} finally {
  rmSync(directory, { recursive: true })
}

function run(): string {
  const rows = KINDS.map((kind, index) => {
    const candidates = [true, false].map((signs) => open(join(directory, `${index}-${signs}`), kind, signs))
    const ratios: Record<'wall' | 'cpu', number[]> = { wall: [], cpu: [] }
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      // In turns, so that other load of the machine affects both.
      const order = round % 2 === 0 ? candidates : candidates.toReversed()
      const measured = new Map(order.map((candidate) => [candidate, slice(candidate, kind)]))
      const [own, bare] = candidates.map((candidate) => measured.get(candidate) ?? { wall: 0, cpu: 0 })
      if (own === undefined || bare === undefined || round === 0) continue
      ratios.wall.push(own.wall / bare.wall)
      ratios.cpu.push(own.cpu / bare.cpu)
      times.push((own.wall / (kind.commits * kind.events)) * 1_000)
    }
    for (const { db } of candidates) db.close()
    const [wall, cpu] = [share(ratios.wall, 0.5), share(ratios.cpu, 0.5)]
    const verdict = wall <= GOAL ? 'OK' : 'OVER'
    return [
      kind.name,
      `${share(times, 0.5).toFixed(1)} µs`,
      wall.toFixed(2),
      cpu.toFixed(2),
      `≤ ${GOAL}`,
      verdict,
    ]
  })
  return [
    '## The signed tree',
    '',
    'Time a published event takes in the appender, with its leaf, tree and signature, as a ratio to the same without them: the medians of slices by turns.',
    '',
    table(['', 'an event', 'time', 'CPU', 'goal', ''], rows),
    '',
  ].join('\n')
}

function open(data: string, { durable }: Commits, signs: boolean): Candidate {
  createStore(storePath(data), { origin: 'bench.example/log', chain: 'solana', simulated: true })
  const db = durable ? openForWriting(storePath(data)) : openForBulk(storePath(data))
  const appender = openAppender(db, testSigner(db), signs ? {} : { openTree: noTree })
  const drafts = bigDrafts({ seed: 'tree', from: FROM, to: TO, count: DRAFTS })
  return {
    db,
    appender,
    next() {
      const { value } = drafts.next()
      if (value === undefined) throw new Error('there are drafts enough')
      const seq = appender.head().seq + 1
      const parsed = parseDraft({ ref: `tree-${seq}`, ...value.draft }, { chain: 'solana', mode: 'publish' })
      if (!parsed.ok) throw new Error(`draft ${seq}, ${parsed.field}: ${parsed.reason}`)
      appender.append(parsed.draft, { ref: `tree-${seq}`, digest: draftDigest(parsed.draft) }, value.ms)
    },
  }
}

function slice({ appender, next }: Candidate, { commits, events }: Commits): Record<'wall' | 'cpu', number> {
  const began = performance.now()
  const cpuBegan = process.threadCpuUsage()
  for (let commit = 0; commit < commits; commit++) {
    appender.begin()
    for (let event = 0; event < events; event++) next()
    appender.keep()
    appender.commit()
  }
  const { user, system } = process.threadCpuUsage(cpuBegan)
  return { wall: performance.now() - began, cpu: (user + system) / 1_000 }
}
