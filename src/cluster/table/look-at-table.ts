import { createHash } from 'node:crypto'
import { askStandbyState, untilFlushed } from './standby-proof.ts'
import {
  APPEND_MS_MAX,
  type Look,
  LOOK_ROWS_MAX,
  MissingRow,
  ROW_BYTES_MAX,
  TableError,
  type TableRow,
} from './log-table.ts'
import { TABLE, type TableSession } from './table-session.ts'

/** Time in ms that a read waits for the standbys. */
const PROOF_MS = 1_000
/** Time in ms for the answer. */
const ANSWER_MS = APPEND_MS_MAX - PROOF_MS - 500

/** Parts that the calls of one session share. */
export type SessionContext = Readonly<{
  session: TableSession
  /** Whether one database without a standby is accepted. */
  isSingle: boolean
  /** Number of the advisory lock, as decimal digits. */
  lock: string
  /** A clock in ms that never jumps. */
  monotonicMs: () => number
  /** Place up to which rows are certainly on the standbys. */
  sure: { place: number }
}>

/** Number of the advisory lock of a log: the first eight bytes of the SHA-256 of its id. */
export function lockOf(logId: string): string {
  return createHash('sha256').update(logId).digest().readBigInt64BE().toString()
}

/** Opens a time limit that begins now. The returned function gives the milliseconds left, at least 1. */
export function timeLeft(monotonicMs: () => number, ms: number): () => number {
  const endMs = monotonicMs() + ms
  return () => Math.max(1, endMs - monotonicMs())
}

/** Condition for the lock in pg_locks: the two halves of its number. */
const IS_LED = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((classid::bigint << 32) | objid::bigint) = $3::bigint)`

const SHOWN = `(SELECT max(substring(application_name FROM '^daybook ([0-9]{1,15})$')::bigint)
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid())`

// A larger row is not ours. Only its first bytes are read, which show that, because a huge row would end this process.
const BODY = `encode(CASE WHEN octet_length(body) > ${ROW_BYTES_MAX}
    THEN substring(body FROM 1 FOR ${ROW_BYTES_MAX + 1}) ELSE body END, 'base64')`

const QUESTION = `WITH
  near AS (SELECT place, body, sum(octet_length(body)) OVER (ORDER BY place) AS total
    FROM (SELECT place, body FROM ${TABLE} WHERE place >= $1::bigint ORDER BY place LIMIT ${LOOK_ROWS_MAX}) AS next),
  head AS (SELECT set_config('application_name', $4, false) AS name,
    (SELECT max(place) FROM ${TABLE}) AS last, ${IS_LED} AS led, ${SHOWN} AS shown)
  SELECT last, led, shown, place, ${BODY} AS body FROM head
    LEFT JOIN near ON total <= $2::bigint OR total = octet_length(body) ORDER BY place`

/** Reads the table in one session, and shows the place of this node there. Throws. */
export async function lookAtTable(
  { session, isSingle, lock, monotonicMs, sure }: SessionContext,
  from: number,
  bytesMax: number,
  applied: number,
): Promise<Look> {
  const { connection, server } = session
  const proof = timeLeft(monotonicMs, ANSWER_MS + PROOF_MS)
  // The position is read after the rows, but requested before they have arrived.
  const [seen, state] = await Promise.all([
    connection.ask(QUESTION, [from, Math.floor(bytesMax), lock, `daybook ${applied}`], {
      answerMs: ANSWER_MS,
      prepare: true,
    }),
    askStandbyState(connection, isSingle, ANSWER_MS),
  ])
  const [head] = seen
  const rows = rowsOf(seen, from)
  const last = Number(head?.['last'] ?? 0)
  const leftMs = timeLeft(monotonicMs, Math.min(PROOF_MS, proof()))
  const isProved = await untilFlushed(connection, state, isSingle, leftMs)
  // A table may become shorter, and then gets other rows at these places.
  sure.place = isProved ? last : Math.min(sure.place, last)
  return {
    server,
    rows: rows.filter(({ place }) => place <= sure.place),
    last,
    isProved,
    isLed: head?.['led'] === true,
    shown: Number(head?.['shown'] ?? 0),
  }
}

/** Rows of an answer, in order. Throws a `TableError` at a hole. */
function rowsOf(answer: readonly Readonly<Record<string, unknown>>[], from: number): readonly TableRow[] {
  return answer
    .filter((row) => row['place'] !== null)
    .map((row, index) => {
      const place = Number(row['place'])
      if (place > from + index) {
        throw new MissingRow(from + index, place)
      }
      if (place < from + index) throw new TableError(`the table ${TABLE} has row ${place} twice`)
      return { place, bytes: new Uint8Array(Buffer.from(String(row['body']), 'base64')) }
    })
}
