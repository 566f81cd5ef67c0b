import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setupSql } from '../src/cluster/table/table-setup.ts'
import { makeKeyFile } from '../src/command/operator/signing-key-file.ts'
import { openPostgresRig } from '../test/database/postgres-rig.ts'
import { hasPostgres } from '../test/database/postgres-server.ts'
import { until } from '../test/processes/other-program.ts'
import { run } from '../test/stage/command-stage.ts'
import { type NodeProcess, startNode } from '../test/stage/node-process.ts'
import { connectPublishers, type Publishers } from './publish/publish-load.ts'
import { benchSettings, inTurns, report } from './stage/report.ts'

/** Measures publishing at the leader of two nodes on PostgreSQL with a synchronous standby, and at an embedded store. */

const PUBLISHERS = 32
const TURN_MS = 1_000
const LEADS_MS_MAX = 120_000

const { rounds } = benchSettings()
const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-cluster-'))
const stack = new AsyncDisposableStack()
stack.defer(() => rmSync(folder, { recursive: true, force: true }))
try {
  if (hasPostgres) await cluster()
  else process.stderr.write('cluster: PostgreSQL is not installed\n')
} finally {
  await stack.disposeAsync()
}

async function cluster(): Promise<void> {
  const nodes = [await startLeader(), opened(await startNode(join(folder, 'embedded')))]
  // When both serve: a service closes a connection that is idle for long.
  const candidates: Publishers[] = []
  for (const node of nodes) candidates.push(stack.use(await connectPublishers(node, PUBLISHERS)))
  const [ours = [], theirs = []] = await inTurns(rounds, candidates, (publishers) =>
    publishers.publish(1, TURN_MS),
  )
  report([
    {
      what: 'durable acknowledgements of two nodes, 32 publishers',
      unit: 'drafts/s',
      peer: 'embedded store',
      ours,
      theirs,
      better: 'more',
    },
  ])
}

/** Moves a new log to a table, and starts two nodes on it. Returns the one that leads. */
async function startLeader(): Promise<NodeProcess> {
  const servers = stack.use(await openPostgresRig())
  await servers.sql(servers.primary(), setupSql('daybook', 'postgres') ?? '')
  const keyFile = join(folder, 'log.key')
  makeKeyFile(keyFile, '--signing-key-file')
  const own = ['--signing-key-file', keyFile]
  const onTable = [...own, '--log-store', servers.url()]
  const alone = await startNode(join(folder, 'a'), [...own, '--origin', 'daybook.bench/cluster'])
  await alone.end('SIGTERM')
  const { code, stderr } = await run(['cluster', 'move', '--data', join(folder, 'a'), ...onTable])
  if (code !== 0) throw new Error(`cluster move ended with ${code}: ${stderr}`)
  const leader = opened(await startNode(join(folder, 'a'), onTable, [], 'cluster'))
  const leads = async (): Promise<boolean> => (await fetch(`${leader.publishUrl}/readyz?for=publish`)).ok
  await until('a node leads', leads, LEADS_MS_MAX)
  opened(await startNode(join(folder, 'b'), onTable, [], 'cluster'))
  return leader
}

function opened(node: NodeProcess): NodeProcess {
  stack.defer(async () => void (await node.end('SIGKILL')))
  return node
}
