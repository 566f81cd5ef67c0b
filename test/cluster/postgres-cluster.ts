import { openPostgresRig } from '../engine/postgres-rig.ts'
import { until } from '../processes/other-program.ts'
import type { PostgresServer } from '../outbox/postgres-server.ts'
import type { ClusterEngine } from './cluster-engine.ts'
import type { ClusterFault } from './cluster.ts'

const LEADER_MS_MAX = 60_000

/** A PostgreSQL primary with a synchronous standby, and one stream. */
export async function openPostgresEngine(): Promise<ClusterEngine> {
  const rig = await openPostgresRig()
  await rig.makeStream()
  const connection = rig.connect()
  const address = new URL(rig.url().replace(/@[^/]*/, '@host'))
  const hosts = /@([^/]*)/.exec(rig.url())?.[1] ?? ''
  const fault = (name: string, fire: () => Promise<() => Promise<unknown>>): ClusterFault => ({
    name,
    place: 'engine',
    async fire() {
      const heal = await fire()
      return {
        async heal() {
          await heal()
          await rig.untilSynchronous()
        },
      }
    },
  })
  const killed =
    (...servers: readonly (() => PostgresServer)[]) =>
    async () => {
      const hit = servers.map((server) => server())
      await Promise.all(hit.map((server) => server.end('SIGKILL')))
      return () => Promise.all(hit.map((server) => server.start()))
    }
  const paused =
    (...servers: readonly (() => PostgresServer)[]) =>
    async () => {
      const hit = servers.map((server) => server())
      for (const server of hit) server.signal('SIGSTOP')
      return async () => {
        for (const server of hit) server.signal('SIGCONT')
      }
    }
  return {
    log: connection.log,
    ports: hosts.split(',').map((host) => Number(host.split(':')[1])),
    words(ports) {
      const servers = ports.map((port) => `127.0.0.1:${port}`).join(',')
      return ['--log-store', address.href.replace('@host', `@${servers}`)]
    },
    faults: [
      fault('promote the standby of the killed primary', async () => {
        await rig.failOver()
        return rig.rebuildStandby
      }),
      fault('kill the primary', killed(rig.primary)),
      fault('kill the standby', killed(rig.standby)),
      fault('kill both servers', killed(rig.primary, rig.standby)),
      fault('pause the primary', paused(rig.primary)),
      fault('pause the standby', paused(rig.standby)),
      fault('pause both servers', paused(rig.primary, rig.standby)),
    ],
    hasLeader: () =>
      until('there is a primary', async () => (await connection.log.last()) >= 0, LEADER_MS_MAX),
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]()
      await rig[Symbol.asyncDispose]()
    },
  }
}
