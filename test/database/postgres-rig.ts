import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresServer } from './postgres-server.ts'
import { freePort } from '../processes/free-ports.ts'
import { administer, type NamedRow } from './administer.ts'
import { configureServer, hasSynchronousStandby, openServerGroup, promoteServer } from './server-group.ts'

const WAIT_MS = 60_000
const LOOK_MS = 10
const CONFIGURATION = new URL('../../ops/postgres/daybook.conf', import.meta.url)
/** Role of the nodes. */
const ROLE = 'daybook'

/** A primary and a synchronous standby on the loopback, with the settings of ops/postgres. */
export type PostgresRig = AsyncDisposable &
  Readonly<{
    folder: string
    primary(): PostgresServer
    standby(): PostgresServer
    /** Address of both servers for a role. */
    url(role?: string): string
    /** Runs statements on a server as an administrator, without waiting for a standby. Returns the rows of the last. */
    sql(server: PostgresServer, ...statements: readonly string[]): Promise<readonly NamedRow[]>
    /** Kills the primary and makes the standby the primary. The old primary stays dead. */
    failOver(): Promise<void>
    /** Replaces the dead server by a new standby of the primary. */
    rebuildStandby(): Promise<void>
    /** Starts the dead former primary again, as it is: a fork. */
    startFork(): Promise<PostgresServer>
    /** Makes a further standby that nobody waits for, and kills it: it lacks what is committed from now on. */
    copyAside(): Promise<void>
    /** Kills both servers, makes the newest copy the primary, and gives it a new standby. The copy's port is another. */
    promoteCopy(): Promise<void>
    /** Waits until the standby is synchronous. */
    untilSynchronous(): Promise<void>
  }>

export async function openPostgresRig(): Promise<PostgresRig> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-engine-'))
  const group = openServerGroup(folder)
  const ports = [await freePort(), await freePort()] as const
  const start = (at: 0 | 1, standbyOf: string | null): Promise<PostgresServer> =>
    group.start(at === 0 ? 'a' : 'b', ports[at], standbyOf)
  let index: 0 | 1 = 0
  let primary = await start(0, null)
  await configureServer(primary, readFileSync(CONFIGURATION, 'utf8'))
  let standby = await start(1, primary.url())
  let aside = standby
  const url = (role = ROLE): string =>
    `postgres://${role}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres?sslmode=disable`
  const rig: PostgresRig = {
    folder,
    primary: () => primary,
    standby: () => standby,
    url,
    sql: (server, ...statements) => administer(server, 'postgres', ...statements),
    async failOver() {
      await primary.end('SIGKILL')
      await promoteServer(standby)
      ;[primary, standby] = [standby, primary]
      index = index === 0 ? 1 : 0
    },
    async rebuildStandby() {
      await standby.end('SIGKILL')
      standby = await start(index === 0 ? 1 : 0, primary.url())
      await rig.untilSynchronous()
    },
    async copyAside() {
      aside = await group.start('aside', await freePort(), primary.url())
      await aside.end('SIGKILL')
    },
    async promoteCopy() {
      await Promise.all([primary.end('SIGKILL'), standby.end('SIGKILL')])
      await aside.start()
      await promoteServer(aside)
      primary = aside
      await rig.rebuildStandby()
    },
    async startFork() {
      await standby.start()
      return standby
    },
    async untilSynchronous() {
      await until(() => hasSynchronousStandby(primary))
    },
    async [Symbol.asyncDispose]() {
      await group[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await rig.untilSynchronous()
  return rig
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error('the servers do not come to the expected state')
    await sleep(LOOK_MS)
  }
}
