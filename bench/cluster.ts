import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasPostgres } from '../test/outbox/postgres-server.ts'
import { startNode } from '../test/stage/node-process.ts'
import { openBareClient } from './cluster/bare-client.ts'
import { measureCatchUp } from './cluster/catch-up.ts'
import { commitsOf, measureAcks } from './cluster/table-acks.ts'
import { headOf, openTableLog, untilLeading, untilServed } from './cluster/table-log.ts'
import { measureTakeOver } from './cluster/take-over.ts'
import { openingDrafts } from './publish/publish-load.ts'

/** Measures a log of two nodes on PostgreSQL, beside a node with an embedded store and a bare client of PostgreSQL. */

const PUBLISHERS = [32, 1]
const ROUNDS = 5
const SLICE_MS = 1_000
const CATCH_UP_ROUNDS = 3
const TOKEN = 'a-token-of-the-bench-that-is-long-enough-0123456789'
const TIME_LIMIT_MS = 3_000_000

const { values } = parseArgs({
  options: {
    /** Faults of each kind. */
    faults: { type: 'string', default: '20' },
    /** Parts to run, with commas. */
    parts: { type: 'string', default: 'acks,take-over' },
  },
})
const faults = Number(values.faults)
const parts = values.parts.split(',')

const stack = new AsyncDisposableStack()
const late = setTimeout(() => {
  say(`stopped after ${TIME_LIMIT_MS / 1_000} s`)
  void stack.disposeAsync().finally(() => process.exit(1))
}, TIME_LIMIT_MS)
try {
  if (hasPostgres) await cluster()
  else print('## Two nodes on PostgreSQL', '', 'PostgreSQL is not installed.', '')
} finally {
  clearTimeout(late)
  await stack.disposeAsync()
}

/** Prints each part when it is measured. */
async function cluster(): Promise<void> {
  const [load = 0] = loadavg()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-cluster-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  print(
    '## Two nodes on PostgreSQL',
    '',
    `Everything runs on this one machine, over the loopback and on one disk: PostgreSQL with a synchronous standby, both nodes and the load. So the ratios count. Load ${load.toFixed(1)} before the bench began.`,
    '',
  )
  say('the servers start')
  const log = stack.use(await openTableLog(folder))
  if (parts.includes('acks')) await publishing(log, folder)
  if (!parts.includes('take-over')) return
  const file = join(folder, 'token')
  writeFileSync(file, TOKEN)
  print(
    `**Taking over.** Seconds from the fault until the other node has acknowledged a draft, or any node when the database is hit. One publisher goes round the doors, and gives each 0.25 s. Between two faults the node that was hit is started again.`,
    '',
    await measureTakeOver(log, ['a', 'b'], { file, text: TOKEN }, faults, say),
  )
}

/** The first part: publishing, and the catching up with all that it has published. */
async function publishing(log: Awaited<ReturnType<typeof openTableLog>>, folder: string): Promise<void> {
  await using own = new AsyncDisposableStack()
  const embedded = await startNode(join(folder, 'embedded'))
  own.defer(async () => void (await embedded.end('SIGTERM')))
  const { status } = await embedded.publish(openingDrafts(Date.now()))
  if (status !== 200) throw new Error(`the embedded store answered ${status}`)
  const leader = await log.start('a')
  await untilLeading(leader)
  const follower = await log.start('b')
  await untilServed(follower.url, await headOf(leader.url))
  const bare = await openBareClient(log, own)
  print(
    `**Publishing.** Medians of ${ROUNDS} rounds of ${SLICE_MS / 1_000} s each in turn, one draft in each request. The bare client inserts the rows of the leader's turn, one row a commit, each after the last is acknowledged; its drafts are those that the rows carry. A repeat is a request that was sent again after 503.`,
    '',
  )
  for (const publishers of PUBLISHERS) {
    say(`publishers: ${publishers}`)
    print(
      `${publishers} publisher${publishers === 1 ? '' : 's'}:`,
      '',
      await measureAcks({
        embedded: { node: embedded, commitsNow: () => commitsOf(embedded) },
        leader: { node: leader, commitsNow: log.last },
        bare,
        publishers,
        rounds: ROUNDS,
        sliceMs: SLICE_MS,
      }),
      '',
    )
  }
  await embedded.end('SIGTERM')
  say('catching up')
  print(await measureCatchUp(log, bare, await headOf(leader.url), CATCH_UP_ROUNDS))
  await follower.end('SIGTERM')
  await leader.end('SIGTERM')
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

function say(what: string): void {
  process.stderr.write(`cluster: ${what}\n`)
}
