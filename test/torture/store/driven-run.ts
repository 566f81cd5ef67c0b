import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN } from '../../stage/places.ts'
import type { Driven, DrivenOutcome } from './driven-node.ts'
import { type ShimWish, withShim } from './io-shim.ts'

const TOKEN = 'a-token-of-the-driven-node-that-is-long-enough-0123456789'
/** Requests of a run: one draft, which ends a month in a log of old events, then a batch. */
const REQUESTS: Driven['requests'] = [
  [{ ref: 'one', type: 'trade', kind: 'buy', kots: '1' }],
  [
    { ref: 'two', type: 'treasury', kind: 'deposit', kots: '2' },
    { ref: 'three', type: 'pool', kind: 'sponsor', kots: '3', contestId: 1 },
    { ref: 'four', type: 'payout', kind: 'winner', kots: '1', contestId: 1, tx: 'transaction:four' },
  ],
]

/** Compiled sources, which save a process most of its start. */
const COMPILED = join(import.meta.dirname, '../../../node_modules/.cache/compiled')

/** Environment of a program of Daybook: its compiled sources, and the library when something is wished of it. */
export function programEnv(wish: ShimWish | null): readonly string[] {
  return ['env', `NODE_COMPILE_CACHE=${COMPILED}`, ...(wish === null ? [] : withShim(wish).slice(1))]
}

/** Command of a service that publishes to itself, backs up and stops, and the file of its outcomes. */
export function drivenCommand(
  folder: string,
  {
    data,
    backups = '',
    publishing = '',
    requests = REQUESTS,
  }: Pick<Driven, 'data'> & Partial<Omit<Driven, 'token'>>,
  wish: ShimWish | null,
  options: readonly string[] = [],
): Readonly<{ command: readonly string[]; outcomes: string }> {
  const [outcomes, tokenFile] = [join(folder, 'outcomes'), join(folder, 'token')]
  writeFileSync(tokenFile, TOKEN)
  const driven: Driven = { requests, token: TOKEN, data, backups, publishing }
  const env = [`DRIVEN_NODE=${JSON.stringify(driven)}`, `DRIVEN_OUTCOMES=${outcomes}`]
  const log = ['--data', data, '--chain', 'opaque', '--development', '--balances', 'report']
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile, '--drain', '0']
  const program = [process.execPath, '--import', join(import.meta.dirname, 'driven-node.ts'), MAIN, 'serve']
  return { command: [...programEnv(wish), ...env, ...program, ...log, ...ports, ...options], outcomes }
}

/** Outcomes of the steps that a driven service came to. */
export function drivenOutcomes(path: string): readonly DrivenOutcome[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as DrivenOutcome)
}
