import assert from 'node:assert/strict'
import { run } from '../../stage/command-stage.ts'
import type { ServerPair } from './server-pair.ts'

/** Role of the nodes in the database. */
export const ROLE = 'daybook'
/** Database of the log. */
export const DATABASE = 'log'
/** Table of the log, and the column that counts its rows from 1. */
export const TABLE = 'public.daybook_commits_1'
export const PLACE = 'n'

/**
 * Whether nodes keep every promise while the database lacks rows that they have. The present ones put such rows back, but
 * answer 400 `cursor-ahead` meanwhile for an event that another node has shown, and end in a fork when rows are deleted
 * under connected nodes.
 */
export const HOLDS_LOST_TAILS: boolean = false

/** Options with which a node is told from the others. */
export function nodeWords(name: string): readonly string[] {
  return ['--node-name', name]
}

/** Makes the table of the log and the role of its nodes, as an administrator does. */
export async function makeTable({ sql, primary, primaryPort }: ServerPair): Promise<void> {
  await sql(primary(), `CREATE DATABASE ${DATABASE}`)
  const url = `postgres://tester@127.0.0.1:${primaryPort()}/${DATABASE}?sslmode=disable`
  const { stderr, code } = await run(['cluster', 'init', url, '--role', ROLE])
  assert.equal(code, 0, stderr)
}
