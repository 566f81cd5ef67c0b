import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN } from '../../stage/places.ts'
import type { Driven } from './driven-node.ts'
import { type CountedCall, type ShimWish, withShim } from './io-shim.ts'
import { randomOf } from '../../../sim/random.ts'

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
function programEnv(wish: ShimWish | null): readonly string[] {
  return ['env', `NODE_COMPILE_CACHE=${COMPILED}`, ...(wish === null ? [] : withShim(wish).slice(1))]
}

/** Command of a service that publishes to itself, backs up and stops, and the file of its outcomes. */
export function drivenCommand(
  folder: string,
  { data, backups = '', requests = REQUESTS }: Pick<Driven, 'data'> & Partial<Omit<Driven, 'token'>>,
  wish: ShimWish | null,
  options: readonly string[] = [],
): Readonly<{ command: readonly string[]; outcomes: string }> {
  const [outcomes, tokenFile] = [join(folder, 'outcomes'), join(folder, 'token')]
  writeFileSync(tokenFile, TOKEN)
  const driven: Driven = { requests, token: TOKEN, data, backups }
  const env = [`DRIVEN_NODE=${JSON.stringify(driven)}`, `DRIVEN_OUTCOMES=${outcomes}`]
  const log = ['--data', data, '--chain', 'opaque', '--development', '--balances', 'report']
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile, '--drain', '0']
  const program = [process.execPath, '--import', join(import.meta.dirname, 'driven-node.ts'), MAIN, 'serve']
  return { command: [...programEnv(wish), ...env, ...program, ...log, ...ports, ...options], outcomes }
}

/** Equal calls on one file in a row, more than which are not all tried. */
const RUN_MAX = 12
/** Calls at each end of such a run that are, and between. */
const RUN_ENDS = 4
const RUN_BETWEEN = 4

/**
 * Leaves of many equal calls on one file in a row the first, the last and some between: a copy of a store has thousands.
 * Those between are the same in each part of a campaign, which otherwise would try other cases than the parts share.
 */
export function withoutLongRuns(changes: readonly CountedCall[]): readonly CountedCall[] {
  const random = randomOf('calls between')
  const kept: CountedCall[] = []
  for (let from = 0; from < changes.length;) {
    const [first] = changes.slice(from)
    let to = from + 1
    while (to < changes.length && changes[to]?.call === first?.call && changes[to]?.path === first?.path)
      to += 1
    const row = changes.slice(from, to)
    if (row.length <= RUN_MAX) kept.push(...row)
    else {
      const between = Array.from({ length: RUN_BETWEEN }, () =>
        random.between(RUN_ENDS, row.length - RUN_ENDS - 1),
      )
      const at = (index: number): boolean =>
        index < RUN_ENDS || index >= row.length - RUN_ENDS || between.includes(index)
      kept.push(...row.filter((_, index) => at(index)))
    }
    from = to
  }
  return kept
}
