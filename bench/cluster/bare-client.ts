import { Client } from 'pg'
import type { TableLog } from './table-log.ts'

/** Rows of one question of a bare reader: as many as a node applies in one transaction. */
const READ_ROWS = 256

/** A client of the primary without Daybook, over the loopback as a node is. */
export type BareClient = Readonly<{
  /** Inserts a body as the next row, and waits until the standby has it. */
  insert(body: Uint8Array): Promise<void>
  /** Bodies of the log's rows after a place, 2,000 at most. */
  bodiesAfter(place: number): Promise<readonly Uint8Array[]>
  /** Reads all rows of the log, and does nothing with them. Returns the seconds. */
  readAll(): Promise<number>
}>

/** Connects a client, with a table of the same form as that of the log. */
export async function openBareClient(
  { servers }: TableLog,
  stack: AsyncDisposableStack,
): Promise<BareClient> {
  const address = { host: '127.0.0.1', port: servers.primary().port, database: 'postgres', user: 'tester' }
  const client = new Client({ ...address, ssl: false })
  // An error of the connection is told by the statement that waits for it.
  client.on('error', () => undefined)
  await client.connect()
  stack.defer(() => client.end())
  await client.query('CREATE TABLE public.bare (place bigint PRIMARY KEY, body bytea NOT NULL)')
  let last = 0
  const rowsAfter = async (place: number, limit: number): Promise<readonly LogRow[]> => {
    const text = 'SELECT place, body FROM public.daybook_log WHERE place > $1 ORDER BY place LIMIT $2'
    const { rows } = await client.query<LogRow>({ name: 'read', text, values: [place, limit] })
    return rows
  }
  return {
    async insert(body) {
      last += 1
      const text = 'INSERT INTO public.bare (place, body) VALUES ($1, $2)'
      await client.query({ name: 'insert', text, values: [last, body] })
    },
    bodiesAfter: async (place) => (await rowsAfter(place, 2_000)).map(({ body }) => body),
    async readAll() {
      const began = performance.now()
      for (let place = 0; ;) {
        const newest = (await rowsAfter(place, READ_ROWS)).at(-1)
        if (newest === undefined) break
        place = Number(newest.place)
      }
      return (performance.now() - began) / 1_000
    },
  }
}

type LogRow = { place: string; body: Buffer }
