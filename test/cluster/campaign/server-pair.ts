import { administer, type NamedRow } from '../../database/administer.ts'
import {
  configureServer,
  hasSynchronousStandby,
  openServerGroup,
  promoteServer,
} from '../../database/server-group.ts'
import type { PostgresServer } from '../../database/postgres-server.ts'
import { freePort } from '../../processes/free-ports.ts'
import { until } from '../../processes/other-program.ts'
import { type FaultRelay, openFaultRelay } from '../../torture/history/fault-relay.ts'

const SETTINGS = ['max_connections=80']
/** Each server names both, so that each can become the primary. */
const REPLICATED = `
synchronous_standby_names = 'ANY 1 (daybook_0, daybook_1)'
synchronous_commit = on
wal_sender_timeout = 10s
wal_receiver_timeout = 10s
`

/** Which of the two servers that the nodes know. */
export type Slot = 0 | 1

/** A primary and a synchronous standby on the loopback. Either can take the other's part. */
export type ServerPair = AsyncDisposable &
  Readonly<{
    primary(): PostgresServer
    standby(): PostgresServer
    /** Port of the server that has a slot now. */
    port(slot: Slot): number
    primaryPort(): number
    /** Relay between a standby and its primary. */
    replication: FaultRelay
    /** Runs statements as an administrator, without waiting for a standby. Returns the rows of the last one. */
    sql(server: PostgresServer, ...statements: readonly string[]): Promise<readonly NamedRow[]>
    /** Runs statements in a database of the primary, as `sql` does. */
    sqlIn(database: string, ...statements: readonly string[]): Promise<readonly NamedRow[]>
    /** Makes the standby the primary. The old primary goes on, unless it was ended before. */
    promote(): Promise<void>
    /** Ends the server that is not the primary, and makes a new standby in its place. */
    rebuildStandby(): Promise<void>
    /** Makes a further standby that nobody waits for, and ends it: it lacks what is committed from now on. */
    copyAside(): Promise<PostgresServer>
    /** Kills both servers, makes the copy the primary, and gives it a new standby. */
    promoteCopy(copy: PostgresServer): Promise<void>
    /** Resolves when a synchronous standby streams. */
    untilSynchronous(): Promise<void>
  }>

export async function openServerPair(folder: string): Promise<ServerPair> {
  await using opening = new AsyncDisposableStack()
  const group = opening.use(openServerGroup(folder, SETTINGS))
  const start = async (name: string, standbyOf: string | null): Promise<PostgresServer> =>
    await group.start(name, await freePort(), standbyOf)

  const slots: PostgresServer[] = []
  let leading: Slot = 0
  const other = (): Slot => (leading === 0 ? 1 : 0)
  const primary = (): PostgresServer => slots[leading] as PostgresServer
  const standby = (): PostgresServer => slots[other()] as PostgresServer
  const replication = opening.use(await openFaultRelay(() => slots[leading]?.port ?? 0))
  const origin = `postgres://tester@127.0.0.1:${replication.port}/postgres?sslmode=disable`
  slots[0] = await start('0', null)
  await configureServer(slots[0], REPLICATED)
  slots[1] = await start('1', origin)

  const pair: ServerPair = {
    primary,
    standby,
    port: (slot) => slots[slot]?.port ?? 0,
    primaryPort: () => primary().port,
    replication,
    sql: (server, ...statements) => administer(server, 'postgres', ...statements),
    sqlIn: (database, ...statements) => administer(primary(), database, ...statements),
    async promote() {
      await promoteServer(standby())
      leading = other()
      // The former primary never follows by the same address: it is ended and made anew.
      replication.cut()
    },
    async rebuildStandby() {
      await standby().end('SIGKILL')
      slots[other()] = await start(String(other()), origin)
      await pair.untilSynchronous()
    },
    async copyAside() {
      const copy = await start('aside', origin)
      await copy.end('SIGKILL')
      return copy
    },
    async promoteCopy(copy) {
      await Promise.all(slots.map((server) => server.end('SIGKILL')))
      await copy.start()
      await promoteServer(copy)
      slots[leading] = copy
      await pair.rebuildStandby()
    },
    untilSynchronous: () => until('a synchronous standby streams', () => hasSynchronousStandby(primary())),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
  await pair.untilSynchronous()
  const kept = opening.move()
  return pair
}
