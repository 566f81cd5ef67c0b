import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDatabase } from '../../../src/command/database/database-connection.ts'
import { outboxSql, parseOutboxTable } from '../../../src/outbox/outbox-sql.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import type { ClusterFault, ClusterNode, Companion } from '../history/cluster.ts'
import type { DrainedRow, SentDraft } from '../history/history.ts'
import { type Drainer, startDrainer } from '../../outbox/started-drainer.ts'
import { PLATFORM, type PlatformWriters, startWriters } from '../../outbox/outbox-writers.ts'
import { startPostgresServer } from '../../database/postgres-server.ts'
import { until } from '../../processes/other-program.ts'

const WRITERS = 2
/** Mean time between two transactions of a writer. */
const PACE_MS = 700

type Settings = Readonly<{ seed: string; token: string }>

/** A platform whose drafts go through an outbox in PostgreSQL. Database and drainer are killed and paused. */
export async function openOutboxCompany({ seed, token }: Settings): Promise<Companion & AsyncDisposable> {
  // PostgreSQL runs as another user, who cannot get at the folder of the run.
  const folder = mkdtempSync(join(tmpdir(), 'daybook-together-'))
  const server = await startPostgresServer(folder)
  const table = outboxSql(parseOutboxTable('daybook_outbox'))
  server.run('psql', [server.url(), '-q', '-v', 'ON_ERROR_STOP=1'], `${table}${PLATFORM}`)
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, token)
  const target = parseDatabaseUrl(server.url(), null)
  const ask = async (words: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    await using sql = await connectDatabase(target, AbortSignal.timeout(10_000))
    return await sql.ask(words)
  }
  let writers: PlatformWriters | null = null
  let drainer: Drainer | null = null
  const fault = (name: string, fire: () => Promise<() => Promise<void>>): ClusterFault => ({
    name,
    place: 'outbox',
    fire: async () => ({ heal: await fire() }),
  })
  const nothing = async (): Promise<void> => undefined
  return {
    faults: [
      fault('kill the drainer of the outbox', async () => {
        await drainer?.kill()
        return nothing
      }),
      fault('pause the drainer of the outbox', async () => {
        drainer?.freeze()
        return async () => drainer?.thaw()
      }),
      fault('kill the database of the outbox', async () => {
        await server.end('SIGKILL')
        return () => server.start()
      }),
      fault('kill drainer and database of the outbox', async () => {
        await Promise.all([server.end('SIGKILL'), drainer?.kill()])
        return () => server.start()
      }),
    ],
    verifyWords: [],
    begin(nodes: readonly ClusterNode[]) {
      const publishUrls = nodes.flatMap(({ publishUrl }) => publishUrl ?? []).toReversed()
      const from = server.url().replace('tester@', 'daybook@')
      const words = ['publish', '--from', from, '--to', publishUrls.join(','), '--token-file', tokenFile]
      drainer = startDrainer(words)
      writers = startWriters(server, WRITERS, `${seed} outbox`, PACE_MS)
      writers.resume()
    },
    look: nothing,
    async pause() {
      await writers?.pause()
      await until('every row of the outbox is drained', async () => {
        const [row] = await ask(
          'SELECT count(*)::int AS waiting FROM daybook_outbox WHERE drained_at IS NULL',
        )
        return row?.['waiting'] === 0
      }).catch((cause: unknown) => {
        throw new Error(`the drainer said:\n${drainer?.said().slice(-3_000)}`, { cause })
      })
    },
    settled: nothing,
    resume: () => writers?.resume(),
    async end() {
      const rows = await ask('SELECT draft::text AS draft, seq::int AS seq FROM daybook_outbox ORDER BY pos')
      const outbox = rows.map(({ draft, seq }): DrainedRow => ({
        draft: JSON.parse(String(draft)) as SentDraft,
        seq: Number(seq),
      }))
      await writers?.stop()
      const code = await drainer?.end()
      const { committed = 0, broken = 0 } = writers?.counts ?? {}
      assert.ok(drainer !== null, 'the drainer was started')
      const faults =
        code === 0
          ? []
          : [{ node: 'the drainer', audit: 'end' as const, output: drainer.said().slice(-3_000) }]
      return {
        history: { outbox },
        faults,
        counts: { outboxRows: outbox.length, outboxCommits: committed, outboxBroken: broken },
      }
    },
    async [Symbol.asyncDispose]() {
      await drainer?.end()
      await server[Symbol.asyncDispose]()
      await writers?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
