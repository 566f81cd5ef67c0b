import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import type { NodeProcess } from '../../test/stage/node-process.ts'
import type { Publishers } from '../publish/publish-load.ts'
import { connectPublishers } from '../publish/publish-load.ts'
import { share } from '../stage/measure.ts'
import { table, thousands } from '../stage/report.ts'
import type { BareClient } from './bare-engines.ts'

/** One turn of a candidate. */
type AckTurn = Readonly<{
  /** Drafts that were acknowledged; 0 for a bare client. */
  drafts: number
  /** Commits, or messages of a bare client. */
  commits: number
  seconds: number
  latenciesMs: readonly number[]
  repeats: number
}>

export type AckCandidate = Readonly<{
  name: string
  /** Name of the candidate that appends messages of the same size without Daybook. */
  bare: string | null
  turn(ms: number): Promise<AckTurn>
}>

/** Repeats of a request after 503: a busy machine may need more than the second that an attempt has. */
const REPEATS_MAX = 100
const BYTES_MAX = 4 * 1024 * 1024
/** Newest messages whose size the bare clients take. */
const SIZED = 50

/** Publishers, divided among writers. */
export async function publishersAt(
  nodes: readonly NodeProcess[],
  count: number,
  name: string,
  stack: AsyncDisposableStack,
): Promise<readonly Publishers[]> {
  return await Promise.all(
    nodes.map(async ({ door, token }, index) => {
      const own = Math.floor(count / nodes.length) + (index < count % nodes.length ? 1 : 0)
      const port = Number(new URL(door).port)
      return stack.use(await connectPublishers(port, token, own, `${name}-${index}`, REPEATS_MAX))
    }),
  )
}

/** A candidate whose publishers send one draft in each request. `commitsNow` counts the commits of the log. */
export function publishing(
  name: string,
  bare: string | null,
  groups: readonly Publishers[],
  commitsNow: () => Promise<number>,
): AckCandidate {
  return {
    name,
    bare,
    async turn(ms) {
      const before = await commitsNow()
      const turns = await Promise.all(groups.map((group) => group.publish(1, ms)))
      return {
        drafts: turns.reduce((sum, { drafts }) => sum + drafts, 0),
        commits: (await commitsNow()) - before,
        seconds: Math.max(...turns.map(({ seconds }) => seconds)),
        latenciesMs: turns.flatMap(({ latenciesMs }) => latenciesMs),
        repeats: turns.reduce((sum, { repeats }) => sum + repeats, 0),
      }
    },
  }
}

export function bareAppends(name: string, append: BareClient, bytesOf: () => Promise<number>): AckCandidate {
  return {
    name,
    bare: null,
    async turn(ms) {
      const bytes = new Uint8Array(await bytesOf())
      const latenciesMs: number[] = []
      const began = performance.now()
      while (performance.now() - began < ms) {
        const sentMs = performance.now()
        await append(bytes)
        latenciesMs.push(performance.now() - sentMs)
      }
      const seconds = (performance.now() - began) / 1_000
      return { drafts: 0, commits: latenciesMs.length, seconds, latenciesMs, repeats: 0 }
    },
  }
}

/** Commits of a node without an engine, by its metrics. */
export async function commitsOf({ door, token }: NodeProcess): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const text = await (await fetch(`${door}/metrics`, { headers })).text()
  return Number(/^daybook_publish_commit_duration_seconds_count\S* (\d+)/m.exec(text)?.[1])
}

/** Mean size of the newest messages. */
export async function messageBytes({ log }: EngineConnection): Promise<number> {
  const last = await log.last()
  const messages = await log.read(Math.max(1, last - SIZED), BYTES_MAX)
  return Math.round(messages.reduce((sum, { bytes }) => sum + bytes.length, 0) / messages.length)
}

/** Runs the candidates in turn, after a round that only warms up. Returns the rows of their table. */
export async function measureAcks(
  candidates: readonly AckCandidate[],
  rounds: number,
  sliceMs: number,
): Promise<string> {
  const turns = new Map<string, AckTurn[]>(candidates.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const { name, turn } of candidates) {
      const taken = await turn(sliceMs)
      if (round > 0) turns.get(name)?.push(taken)
      // A writer that polls the chain or tells its mark must not meet the next candidate.
      await sleep(50)
    }
  }
  const of = (name: string): readonly AckTurn[] => turns.get(name) ?? []
  const [first] = candidates
  const rows = candidates.map(({ name, bare }) => {
    const own = of(name)
    const drafts = (turn: AckTurn): number => turn.drafts / turn.seconds
    const commits = (turn: AckTurn): number => turn.commits / turn.seconds
    const latencies = own.flatMap(({ latenciesMs }) => latenciesMs)
    const publishes = own.some((turn) => turn.drafts > 0)
    return [
      name,
      publishes ? perSecond(own.map(drafts)) : '',
      publishes && first !== undefined ? ratio(own, of(first.name), drafts) : '',
      perSecond(own.map(commits)),
      bare === null ? '' : ratio(own, of(bare), commits),
      share(latencies, 0.5).toFixed(1),
      share(latencies, 0.99).toFixed(1),
      publishes ? thousands(own.reduce((sum, { repeats }) => sum + repeats, 0)) : '',
    ]
  })
  const columns = ['drafts/s', '÷ first', 'commits/s', '÷ bare', 'p50 ms', 'p99 ms', 'repeats']
  return table(['', ...columns], rows)
}

function perSecond(rates: readonly number[]): string {
  return thousands(Math.round(share(rates, 0.5)))
}

/** Median of the ratios of the rounds. */
function ratio(own: readonly AckTurn[], other: readonly AckTurn[], rate: (turn: AckTurn) => number): string {
  const ratios = own.flatMap((turn, round) => {
    const peer = other[round]
    return peer === undefined ? [] : [rate(turn) / rate(peer)]
  })
  return share(ratios, 0.5).toFixed(2)
}
