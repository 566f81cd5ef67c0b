import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { share } from '../stage/measure.ts'
import { connectPublishers, openingDrafts } from './publish-load.ts'
import { type PublishNode, startPublishNode } from './publish-node.ts'
import { type LoadResult, runLoad } from './publish-thread.ts'
import { ms, table } from '../stage/report.ts'

/** Measures whether readers slow the writer down, and whether the writer delays a reader. */

const HELP = `node bench/publish/publish-beside.ts [--disk DIR] [--rounds 4]

  --disk DIR   a directory on the disk that is measured (default: the system's directory for temporary files)
  --rounds N   rounds of all four turns; the median of the rounds counts
`
const SLICE_MS = 2_500
const FILL_MS = 3_000
const PUBLISHERS = 32
const READERS = 50
const PAGE_EVENTS = 1_000
const ASK_EVERY_MS = 5

const { values } = parseArgs({
  options: {
    disk: { type: 'string', default: tmpdir() },
    rounds: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
})
process.stdout.write(values.help ? HELP : `${await run(values.disk, Number(values.rounds))}\n`)

async function run(disk: string, rounds: number): Promise<string> {
  const directory = mkdtempSync(join(disk, 'daybook-bench-beside-'))
  try {
    await using service = await startPublishNode(join(directory, 'data'))
    await fill(service)
    const turns = { askIdle: [], askBeside: [], publishAlone: [], publishBeside: [] } as Turns
    let walBytes = 0
    for (let round = 0; round < rounds; round++) {
      const name = `round-${round}`
      turns.askIdle.push(await ask(service))
      const [asked] = await Promise.all([ask(service), publish(service, PUBLISHERS, `${name}-full`)])
      turns.askBeside.push(asked)
      turns.publishAlone.push(await publish(service, 1, `${name}-alone`))
      const [published] = await Promise.all([publish(service, 1, `${name}-beside`), page(service)])
      turns.publishBeside.push(published)
      walBytes = Math.max(walBytes, service.walBytes())
    }
    return reportOf(turns, walBytes)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

type Turns = Readonly<Record<'askIdle' | 'askBeside' | 'publishAlone' | 'publishBeside', LoadResult[]>>

/** Events that the readers page through, published within a few seconds. */
async function fill(service: PublishNode): Promise<void> {
  using publishers = await connectPublishers(service.doorPort, service.token, PUBLISHERS, 'fill')
  await publishers.send(openingDrafts(Date.now()))
  await publishers.publish(100, FILL_MS)
}

function ask({ port }: PublishNode): Promise<LoadResult> {
  return runLoad({ is: 'ask', port, path: '/api/v1/summary', everyMs: ASK_EVERY_MS, forMs: SLICE_MS })
}

function publish(
  { doorPort: port, token }: PublishNode,
  publishers: number,
  name: string,
): Promise<LoadResult> {
  return runLoad({ is: 'publish', port, token, publishers, drafts: 1, name, forMs: SLICE_MS })
}

function page({ port }: PublishNode): Promise<LoadResult> {
  return runLoad({ is: 'page', port, readers: READERS, limit: PAGE_EVENTS, forMs: SLICE_MS })
}

function reportOf(turns: Turns, walBytes: number): string {
  const rows = [
    row(
      `GET /summary, ${1000 / ASK_EVERY_MS} a second, while ${PUBLISHERS} publish at full speed`,
      turns.askIdle,
      turns.askBeside,
    ),
    row(
      `publish one draft after the other, while ${READERS} page through history at full speed`,
      turns.publishAlone,
      turns.publishBeside,
    ),
  ]
  const columns = [
    'what',
    'p50 alone',
    'p50 beside',
    'p99 alone',
    'p99 beside',
    'ratio of p50',
    'ratio of p99',
  ]
  return [
    '## Readers beside the writer',
    '',
    `Milliseconds from the request to its answer, by turns of ${SLICE_MS} ms, medians of ${turns.askIdle.length} rounds. A machine of two processors has both of them taken by either load: what is left of the difference is their turn on a processor and the disk, for neither waits for a lock of the other. The write-ahead log was never longer than ${(walBytes / 2 ** 20).toFixed(1)} MiB.`,
    '',
    table(columns, rows),
    '',
  ].join('\n')
}

function row(name: string, alone: readonly LoadResult[], beside: readonly LoadResult[]): readonly string[] {
  const [p50, p99] = [0.5, 0.99].map((part) => {
    const [before, after] = [alone, beside].map((turns) =>
      share(
        turns.map(({ latenciesMs }) => share(latenciesMs, part)),
        0.5,
      ),
    )
    return { before: before ?? Number.NaN, after: after ?? Number.NaN }
  })
  if (p50 === undefined || p99 === undefined) throw new Error('both shares were measured')
  const ratio = ({ before, after }: typeof p50): string => (after / before).toFixed(1)
  return [name, ms(p50.before), ms(p50.after), ms(p99.before), ms(p99.after), ratio(p50), ratio(p99)]
}
