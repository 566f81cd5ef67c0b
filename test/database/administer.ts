import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type QueryResultRow } from 'pg'

const CONNECT_MS_MAX = 30_000
/** Time in ms in which a connection ends politely. A paused server would never end it. */
const END_MS_MAX = 1_000

/** A row by the names of its columns. */
export type NamedRow = Readonly<Record<string, unknown>>

/**
 * Runs statements in a database of a server on one connection, as the user who may do everything, without waiting for a
 * standby. Returns the rows of the last one.
 */
export async function administer<R extends QueryResultRow = NamedRow>(
  server: Readonly<{ url(database?: string): string }>,
  database: string,
  ...statements: readonly string[]
): Promise<readonly R[]> {
  return await askAt<R>(server.url(database), statements, '-c synchronous_commit=local')
}

/** Runs statements on one connection to an address, with options of the session. Returns the rows of the last one. */
export async function askAt<R extends QueryResultRow = NamedRow>(
  url: string,
  statements: readonly string[],
  options = '',
): Promise<readonly R[]> {
  const socket = new Socket()
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    options,
    stream: () => socket,
  })
  // The statement that fails tells of it too.
  client.on('error', () => undefined)
  try {
    await client.connect()
    let rows: readonly R[] = []
    for (const statement of statements) {
      // A text of several statements has several results.
      rows = [await client.query<R>(statement)].flat().at(-1)?.rows ?? []
    }
    return rows
  } finally {
    await Promise.race([client.end(), sleep(END_MS_MAX, undefined, { ref: false })])
    socket.destroy()
  }
}
