import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { bulkLines } from '../sim/bulk.ts'
import { writeDrafts } from '../sim/draft-file.ts'
import { msOf } from '../src/protocol/moment.ts'
import { importFiles } from '../src/publish/import/import.ts'
import { TEST_KEY } from '../test/story/signing.ts'

// Measures drafts per second of `daybook import`, from the first byte read to the last fsync. The peer is a bare loop
// that inserts the same lines through node:sqlite: no rules, books, archive or second thread.

const HELP = `node bench/import.ts [--drafts 500000] [--rounds 3] [--file F --chain opaque]

  --drafts N   synthetic drafts, made before the clock starts (143352 and 5000000 are usual sizes)
  --file F     a plain file of drafts instead
  --rounds N   rounds, import and peer by turns; the median counts
`

const { values } = parseArgs({
  options: {
    drafts: { type: 'string', default: '500000' },
    rounds: { type: 'string', default: '3' },
    file: { type: 'string' },
    chain: { type: 'string', default: 'solana' },
    help: { type: 'boolean', default: false },
  },
})

type Measured = Readonly<{ drafts: number; seconds: number }>

async function measureImport(file: string, dataDirectory: string): Promise<Measured> {
  const outcome = await importFiles({
    files: [file],
    dataDirectory,
    newLog: {
      origin: 'bench.example/log',
      chain: values.chain === 'opaque' || values.chain === 'evm' ? values.chain : 'solana',
      simulated: true,
    },
    keys: [TEST_KEY],
    balances: 'refuse',
    now: msOf(Date.now()),
    monotonicMs: () => performance.now(),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  })
  if (!outcome.ok) throw new Error(`line ${outcome.line}, ${outcome.field}: ${outcome.reason}`)
  return { drafts: outcome.events, seconds: outcome.seconds }
}

type Bare = Readonly<{
  ref: string
  at: string
  type: string
  kind: string
  contestId?: number
  kots?: string
}>

/** The peer: one table, one transaction without a journal, three indexes built last, one fsync. */
async function measurePeer(file: string, path: string): Promise<Measured> {
  const began = performance.now()
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -65536;
    CREATE TABLE drafts (
      seq INTEGER PRIMARY KEY, ref TEXT, at INTEGER, type TEXT, kind TEXT, contest INTEGER, kots TEXT, line TEXT
    ) STRICT;
    BEGIN`)
  const insert = db.prepare('INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  let seq = 0
  for await (const line of createInterface({ input: createReadStream(file, { highWaterMark: 262_144 }) })) {
    const { ref, at, type, kind, contestId, kots } = JSON.parse(line) as Bare
    insert.run(++seq, ref, Date.parse(at), type, kind, contestId ?? null, kots ?? null, line)
  }
  db.exec(`COMMIT; CREATE UNIQUE INDEX drafts_ref ON drafts (ref); CREATE INDEX drafts_at ON drafts (at);
    CREATE INDEX drafts_contest ON drafts (contest)`)
  db.close()
  const written = openSync(path, 'r+')
  fsyncSync(written)
  closeSync(written)
  return { drafts: seq, seconds: (performance.now() - began) / 1000 }
}

function report(name: string, runs: readonly Measured[]): number {
  const rates = runs.map(({ drafts, seconds }) => drafts / seconds).toSorted((a, b) => a - b)
  const median = rates[Math.floor(rates.length / 2)] ?? 0
  const shown = rates.map((rate) => Math.round(rate).toLocaleString('en')).join(', ')
  console.log(
    `${name.padEnd(34)} ${Math.round(median).toLocaleString('en').padStart(9)} drafts/s   (${shown})`,
  )
  return median
}

async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-bench-import-'))
  try {
    const file = values.file ?? join(folder, 'drafts.jsonl')
    if (values.file === undefined) {
      const span = { from: msOf(Date.UTC(2022, 0, 1)), to: msOf(Date.UTC(2026, 0, 1)) }
      const count = Number(values.drafts)
      await writeDrafts(createWriteStream(file), bulkLines({ seed: 'bench', ...span, count }))
    }
    const imports: Measured[] = []
    const peers: Measured[] = []
    let peakMiB = 0
    for (let round = 0; round < Number(values.rounds); round++) {
      const data = join(folder, 'data')
      imports.push(await measureImport(file, data))
      // Memory of the whole process. Before the peer's first run only the import has used it.
      if (round === 0) peakMiB = process.resourceUsage().maxRSS / 1024
      await rm(data, { recursive: true })
      const peer = join(folder, 'peer.db')
      peers.push(await measurePeer(file, peer))
      await rm(peer)
    }
    const megabytes = Math.round(statSync(file).size / 1e6)
    console.log(`${imports[0]?.drafts.toLocaleString('en')} drafts, ${megabytes} MB of JSONL`)
    console.log(
      `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`,
    )
    const own = report('daybook import', imports)
    const peer = report('bare node:sqlite loop, no checks', peers)
    console.log(`ratio ${(own / peer).toFixed(2)}; peak memory of the import ${Math.round(peakMiB)} MiB`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (values.help) console.log(HELP)
else await run()
