import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeProcess } from '../../test/stage/node-process.ts'
import { connectPublishers, type Publishers } from '../publish/publish-load.ts'
import { share } from '../stage/measure.ts'
import { table, thousands } from '../stage/report.ts'
import type { BareClient } from './bare-client.ts'

/** Repeats of a request after 503: a busy machine may lead too late. */
const REPEATS_MAX = 100
/** Pause after a turn, in which the candidate ends what it has begun. */
const PAUSE_MS = 50

/** One turn of a candidate. */
type Turn = Readonly<{
  drafts: number
  commits: number
  seconds: number
  latenciesMs: readonly number[]
  repeats: number
}>

/** A node that takes drafts. `commitsNow` counts its commits. */
type AckNode = Readonly<{ node: NodeProcess; commitsNow(): Promise<number> }>

type AckSettings = Readonly<{
  embedded: AckNode
  /** The leader of two nodes. Its count of commits is the newest place of the table. */
  leader: AckNode
  bare: BareClient
  publishers: number
  rounds: number
  sliceMs: number
}>

/**
 * Publishes at a node with an embedded store and at the leader of two nodes, and then inserts the rows of the leader's turn
 * with a bare client, in turns. The first round only warms up. Returns their table.
 */
export async function measureAcks(settings: AckSettings): Promise<string> {
  const { embedded, leader, bare, publishers, rounds, sliceMs } = settings
  await using stack = new AsyncDisposableStack()
  const connect = async ({ node }: AckNode): Promise<Publishers> => {
    const port = Number(new URL(node.door).port)
    const name = `acks-${publishers}`
    return stack.use(await connectPublishers(port, node.token, publishers, name, REPEATS_MAX))
  }
  const atEmbedded = await connect(embedded)
  const atLeader = await connect(leader)
  const turns: Record<'embedded' | 'leader' | 'bare', Turn[]> = { embedded: [], leader: [], bare: [] }
  for (let round = 0; round <= rounds; round++) {
    const before = await leader.commitsNow()
    const one = await publishingTurn(embedded, atEmbedded, sliceMs)
    await sleep(PAUSE_MS)
    const two = await publishingTurn(leader, atLeader, sliceMs)
    await sleep(PAUSE_MS)
    const bodies = await bare.bodiesAfter(before)
    const three = await bareTurn(bare, bodies, two.drafts / two.commits, sliceMs)
    if (round === 0) continue
    turns.embedded.push(one)
    turns.leader.push(two)
    turns.bare.push(three)
  }
  const columns = ['drafts/s', '÷ embedded', 'commits/s', '÷ bare', 'p50 ms', 'p99 ms', 'repeats']
  return table(
    ['', ...columns],
    [
      row('embedded store', turns.embedded, turns.embedded, null),
      row('leader of two nodes', turns.leader, turns.embedded, turns.bare),
      row('bare client, same rows', turns.bare, turns.embedded, turns.bare),
    ],
  )
}

async function publishingTurn({ commitsNow }: AckNode, publishers: Publishers, ms: number): Promise<Turn> {
  const before = await commitsNow()
  const { drafts, seconds, latenciesMs, repeats } = await publishers.publish(1, ms)
  return { drafts, commits: (await commitsNow()) - before, seconds, latenciesMs, repeats }
}

/** Inserts bodies in their order, again from the first one after the last, each after the last is acknowledged. */
async function bareTurn(
  bare: BareClient,
  bodies: readonly Uint8Array[],
  draftsEach: number,
  ms: number,
): Promise<Turn> {
  const latenciesMs: number[] = []
  const began = performance.now()
  while (performance.now() - began < ms) {
    const body = bodies[latenciesMs.length % bodies.length]
    if (body === undefined) throw new Error('the leader has made no row')
    const sentMs = performance.now()
    await bare.insert(body)
    latenciesMs.push(performance.now() - sentMs)
  }
  const seconds = (performance.now() - began) / 1_000
  const commits = latenciesMs.length
  return { drafts: commits * draftsEach, commits, seconds, latenciesMs, repeats: 0 }
}

function row(
  name: string,
  own: readonly Turn[],
  embedded: readonly Turn[],
  bare: readonly Turn[] | null,
): readonly string[] {
  const drafts = (turn: Turn): number => turn.drafts / turn.seconds
  const commits = (turn: Turn): number => turn.commits / turn.seconds
  const latencies = own.flatMap(({ latenciesMs }) => latenciesMs)
  return [
    name,
    perSecond(own.map(drafts)),
    ratio(own, embedded, drafts),
    perSecond(own.map(commits)),
    bare === null ? '' : ratio(own, bare, commits),
    share(latencies, 0.5).toFixed(1),
    share(latencies, 0.99).toFixed(1),
    thousands(own.reduce((sum, { repeats }) => sum + repeats, 0)),
  ]
}

function perSecond(rates: readonly number[]): string {
  return thousands(Math.round(share(rates, 0.5)))
}

/** Median of the ratios of the rounds. */
function ratio(own: readonly Turn[], other: readonly Turn[], rate: (turn: Turn) => number): string {
  const ratios = own.flatMap((turn, round) => {
    const peer = other[round]
    return peer === undefined ? [] : [rate(turn) / rate(peer)]
  })
  return share(ratios, 0.5).toFixed(2)
}

/** Commits of a node, by its metrics. */
export async function commitsOf({ door, token }: NodeProcess): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const text = await (await fetch(`${door}/metrics`, { headers })).text()
  return Number(/^daybook_publish_commit_duration_seconds_count\S* (\d+)/m.exec(text)?.[1])
}
