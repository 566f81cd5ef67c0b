import { until } from '../../processes/other-program.ts'
import type { PostgresServer } from '../../database/postgres-server.ts'
import type { ClusterFault } from '../../torture/history/cluster.ts'
import { relayFaults } from '../../torture/history/relay-faults.ts'
import type { ServerPair } from './server-pair.ts'
import { DATABASE, PLACE, TABLE } from './table-form.ts'

/** Rows that a copy lacks before it becomes the primary, and those that are deleted. */
const LOST_ROWS = 3
const GROWTH_MS_MAX = 30_000
const WAITING_MS_MAX = 30_000

type Heal = () => Promise<unknown>

/** Newest place of the table. */
async function lastPlace({ sqlIn }: Pick<ServerPair, 'sqlIn'>): Promise<number> {
  const [row] = await sqlIn(DATABASE, `SELECT coalesce(max(${PLACE}), 0) AS last FROM ${TABLE}`)
  return Number(row?.['last'])
}

/** Resolves when the table has grown by so many rows. */
export async function grown(servers: Pick<ServerPair, 'sqlIn'>, rows: number): Promise<void> {
  const from = await lastPlace(servers)
  const enough = async (): Promise<boolean> => (await lastPlace(servers)) >= from + rows
  await until(`the table grows by ${rows} rows`, enough, GROWTH_MS_MAX)
}

/** Faults of a primary and its standby, and of the table. After each there is a primary with a synchronous standby. */
export function serverFaults(servers: ServerPair): readonly ClusterFault[] {
  const fault = (name: string, fire: () => Promise<Heal>, isAlone = false): ClusterFault => ({
    name,
    place: 'servers',
    isAlone,
    async fire() {
      const heal = await fire()
      return {
        async heal() {
          await heal()
          await servers.untilSynchronous()
        },
      }
    },
  })
  const killed =
    (...hit: readonly (() => PostgresServer)[]) =>
    async (): Promise<Heal> => {
      const ended = hit.map((server) => server())
      await Promise.all(ended.map((server) => server.end('SIGKILL')))
      return () => Promise.all(ended.map((server) => server.start()))
    }
  const paused =
    (...hit: readonly (() => PostgresServer)[]) =>
    async (): Promise<Heal> => {
      const stopped = hit.map((server) => server())
      for (const server of stopped) server.signal('SIGSTOP')
      return async () => {
        for (const server of stopped) server.signal('SIGCONT')
      }
    }
  const restarted = (hit: () => PostgresServer) => async (): Promise<Heal> => {
    const server = hit()
    await server.end('SIGINT')
    await server.start()
    return async () => undefined
  }
  const failOver = async (): Promise<Heal> => {
    await servers.primary().end('SIGKILL')
    await servers.promote()
    return servers.rebuildStandby
  }
  const promoteCopy = async (): Promise<Heal> => {
    const copy = await servers.copyAside()
    await grown(servers, LOST_ROWS)
    await servers.promoteCopy(copy)
    return async () => undefined
  }
  const deleteRows = async (): Promise<Heal> => {
    await grown(servers, 1)
    const kept = `SELECT max(${PLACE}) - ${LOST_ROWS} FROM ${TABLE}`
    await servers.sqlIn(DATABASE, `DELETE FROM ${TABLE} WHERE ${PLACE} > (${kept})`)
    return async () => undefined
  }
  const { primary, standby } = servers
  return [
    fault('promote the standby of the killed primary', failOver),
    fault('kill the primary', killed(primary)),
    fault('kill the standby', killed(standby)),
    fault('kill both servers', killed(primary, standby)),
    fault('pause the primary', paused(primary)),
    fault('pause the standby', paused(standby)),
    fault('pause both servers', paused(primary, standby)),
    fault('restart the primary', restarted(primary)),
    fault('restart the standby', restarted(standby)),
    fault('promote the standby while the old primary stays', async () => {
      await servers.promote()
      return servers.rebuildStandby
    }),
    ...waitFaults(servers, fault, failOver),
    fault('promote a standby that lacks rows', promoteCopy, true),
    fault('delete the newest rows', deleteRows, true),
    ...relayFaults('replication', [servers.replication]).map((one) => ({ ...one, place: 'servers' })),
  ]
}

/** Faults of a commit that waits for the standby. */
function waitFaults(
  servers: ServerPair,
  fault: (name: string, fire: () => Promise<Heal>, isAlone: boolean) => ClusterFault,
  failOver: () => Promise<Heal>,
): readonly ClusterFault[] {
  const { sql, primary, standby } = servers
  const WAITS = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  /** Stops the standby, and waits until a commit waits for it. Returns the process of that session. */
  const waiting = async (): Promise<number> => {
    standby().signal('SIGSTOP')
    let pid = 0
    const waits = async (): Promise<boolean> => {
      pid = Number((await sql(primary(), WAITS))[0]?.['pid'] ?? 0)
      return pid > 0
    }
    await until('a commit waits for the standby', waits, WAITING_MS_MAX)
    return pid
  }
  const goOn: Heal = async () => standby().signal('SIGCONT')
  const cancelled = async (how: 'cancel' | 'terminate'): Promise<Heal> => {
    const pid = await waiting()
    await sql(primary(), `SELECT pg_${how}_backend(${pid})`)
    return goOn
  }
  const emptied = async (): Promise<Heal> => {
    await waiting()
    const server = primary()
    await sql(server, `ALTER SYSTEM SET synchronous_standby_names = ''`, 'SELECT pg_reload_conf()')
    return async () => {
      await sql(server, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
      await goOn()
    }
  }
  const thenFailOver = (begin: () => Promise<Heal>) => async (): Promise<Heal> => {
    await begin()
    await primary().end('SIGKILL')
    await goOn()
    return await failOver()
  }
  // Another fault could keep the nodes from publishing, so that no commit waits.
  return [
    fault('cancel a wait for the standby', () => cancelled('cancel'), true),
    fault('terminate a wait for the standby', () => cancelled('terminate'), true),
    fault('empty synchronous_standby_names', emptied, true),
    fault(
      'cancel a wait, then promote the standby',
      thenFailOver(() => cancelled('cancel')),
      true,
    ),
    fault('empty synchronous_standby_names, then promote the standby', thenFailOver(emptied), true),
  ]
}
