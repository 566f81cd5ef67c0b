import { setTimeout as sleep } from 'node:timers/promises'
import { openLogTable, type TableOptions } from '../../../src/cluster/table/open-table.ts'
import { setupSql } from '../../../src/cluster/table/table-setup.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import type { LogTable } from '../../../src/cluster/table/log-table.ts'
import { openPostgresRig, type PostgresRig } from '../../database/postgres-rig.ts'
import type { TableRig } from './table-rig.ts'

const PAUSE_MS = 20

/** Differences of a node's table from an ordinary one. */
type OpenOptions = Readonly<{ url?: string; isSingle?: boolean; memory?: TableOptions['memory'] }>

/** The table on a primary with a synchronous standby. */
export type PostgresTableRig = TableRig &
  AsyncDisposable &
  Readonly<{ servers: PostgresRig; open(options?: OpenOptions): LogTable }>

/** Options of a table in tests. */
export function tableOptions({ isSingle = false, memory = null }: OpenOptions = {}): TableOptions {
  return {
    isSingle,
    memory,
    logId: 'log.example/table',
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
  }
}

export async function openPostgresTableRig(): Promise<PostgresTableRig> {
  const servers = await openPostgresRig()
  const run = (sql: string): Promise<unknown> => servers.sql(servers.primary(), sql)
  const cutSessions = async (): Promise<void> => {
    await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'daybook'")
  }
  await run(setupSql('daybook', 'postgres') ?? '')
  return {
    servers,
    open: (options: OpenOptions = {}) =>
      openLogTable(parseDatabaseUrl(options.url ?? servers.url(), null), tableOptions(options)),
    async reset() {
      servers.standby().signal('SIGCONT')
      await servers.untilSynchronous()
      await cutSessions()
      await run('DROP TABLE IF EXISTS public.daybook_log')
      await run(setupSql('daybook', 'postgres') ?? '')
    },
    cutSessions,
    partStandbys: async () => servers.standby().signal('SIGSTOP'),
    async joinStandbys() {
      servers.standby().signal('SIGCONT')
      await servers.untilSynchronous()
    },
    async failOver() {
      await servers.failOver()
      await servers.rebuildStandby()
    },
    async cutTail(from) {
      await run(`DELETE FROM public.daybook_log WHERE place >= ${from}`)
    },
    pause: () => sleep(PAUSE_MS),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}
