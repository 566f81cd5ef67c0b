import { join } from 'node:path'
import { setupSql } from '../../src/cluster/table/table-setup.ts'
import { makeKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { openPostgresRig, type PostgresRig } from '../../test/database/postgres-rig.ts'
import { until } from '../../test/processes/other-program.ts'
import { run } from '../../test/stage/command-stage.ts'
import { type NodeProcess, startNode } from '../../test/stage/node-process.ts'
import { openingDrafts } from '../publish/publish-load.ts'

const ORIGIN = 'daybook.bench/cluster'
const WAIT_MS_MAX = 120_000
const ANSWER_MS_MAX = 1_000

/** A log with running contests on a table of a primary with a synchronous standby. */
export type TableLog = AsyncDisposable &
  Readonly<{
    folder: string
    keyFile: string
    servers: PostgresRig
    /** Data directory of a node. That of `a` has the log already. */
    dataOf(name: string): string
    /** Starts a node without relays before it. It ends with the log. */
    start(name: string): Promise<NodeProcess>
    /** Newest place of the table. */
    last(): Promise<number>
  }>

export async function openTableLog(folder: string): Promise<TableLog> {
  await using opening = new AsyncDisposableStack()
  const servers = opening.use(await openPostgresRig())
  await servers.sql(servers.primary(), setupSql('daybook', 'postgres') ?? '')
  const keyFile = join(folder, 'log.key')
  makeKeyFile(keyFile, '--signing-key-file')
  const own = ['--signing-key-file', keyFile]
  const onTable = [...own, '--log-store', servers.url()]
  const dataOf = (name: string): string => join(folder, name)

  const first = await startNode(dataOf('a'), [...own, '--origin', ORIGIN])
  const { status } = await first.publish(openingDrafts(Date.now()))
  await first.end('SIGTERM')
  if (status !== 200) throw new Error(`the first node answered ${status}`)
  const { code, stderr } = await run(['cluster', 'move', '--data', dataOf('a'), ...onTable])
  if (code !== 0) throw new Error(`cluster move ended with ${code}: ${stderr}`)

  const open = opening.move()
  return {
    folder,
    keyFile,
    servers,
    dataOf,
    async start(name) {
      const node = await startNode(dataOf(name), onTable, [], 'cluster')
      open.defer(async () => void (await node.end('SIGKILL')))
      return node
    },
    async last() {
      const [row] = await servers.sql(servers.primary(), 'SELECT max(place) AS last FROM public.daybook_log')
      return Number(row?.['last'])
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** Waits until a node leads. */
export async function untilLeading({ door }: NodeProcess): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const answer = await fetch(`${door}/readyz?for=publish`, { signal })
    await answer.bytes()
    return answer.ok
  }
  await until('a node leads', isReady, WAIT_MS_MAX)
}

/** Waits until a node serves an event. */
export async function untilServed(url: string, seq: number): Promise<void> {
  const isServed = async (): Promise<boolean> => {
    const answer = await fetch(`${url}/api/v1/events/${seq}`)
    await answer.bytes()
    return answer.ok
  }
  await until(`the node serves seq ${seq}`, isServed, WAIT_MS_MAX)
}

/** Newest seq of a node. */
export async function headOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/status`)
  const { head } = (await answer.json()) as { head: { seq: number } }
  return head.seq
}
