import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import postgres from 'postgres'
import { commitsSubject } from '../../src/engine/nats/nats-names.ts'
import type { startNatsRig } from '../../test/engine/nats-rig.ts'
import type { PostgresRig } from '../../test/engine/postgres-rig.ts'
import { portOf } from '../../test/engine/postgres-rig.ts'

/** A client without Daybook. It appends one message at a time, each after the last is acknowledged. */
export type BareClient = (bytes: Uint8Array) => Promise<void>

/** Stream of the bare client. It has the settings of the stream of a log. */
const BARE_STREAM = 9

/** Appends to a file on the same disk, and calls fdatasync. */
export function bareFile(folder: string, stack: AsyncDisposableStack): BareClient {
  const file = openSync(join(folder, 'bare'), 'a')
  stack.defer(() => closeSync(file))
  return async (bytes) => {
    writeSync(file, bytes)
    fdatasyncSync(file)
  }
}

export async function bareNats(rig: Awaited<ReturnType<typeof startNatsRig>>): Promise<BareClient> {
  await rig.make(BARE_STREAM)
  const client = jetstream(await rig.admin())
  return async (bytes) => {
    await client.publish(commitsSubject(BARE_STREAM), bytes, { timeout: 10_000 })
  }
}

export async function barePostgres(rig: PostgresRig, stack: AsyncDisposableStack): Promise<BareClient> {
  const server = rig.primary()
  const address = { host: server.host, port: portOf(server), database: 'postgres', username: 'tester' }
  const sql = postgres({ ...address, max: 1, onnotice: () => undefined })
  stack.defer(() => sql.end({ timeout: 1 }))
  await sql`CREATE TABLE bare (n bigint PRIMARY KEY, body bytea NOT NULL)`
  let place = 0
  return async (bytes) => {
    place += 1
    await sql`INSERT INTO bare VALUES (${place}, ${Buffer.from(bytes)})`
  }
}
