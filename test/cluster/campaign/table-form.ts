import assert from 'node:assert/strict'
import { run } from '../../stage/command-stage.ts'
import type { ServerPair } from './server-pair.ts'

/** Role of the nodes in the database. */
export const ROLE = 'daybook'
/** Database of the log. */
export const DATABASE = 'log'
/** Table of the log, and the column that counts its rows from 1. */
export const TABLE = 'public.daybook_log'
export const PLACE = 'place'

/** Makes the table of the log and the role of its nodes, as an administrator does. */
export async function makeTable({ sql, sqlIn, primary }: ServerPair): Promise<void> {
  await sql(primary(), `CREATE DATABASE ${DATABASE}`)
  const { stdout, stderr, code } = await run(['cluster', 'init', DATABASE, '--role', ROLE])
  assert.equal(code, 0, stderr)
  await sqlIn(DATABASE, stdout)
}
