import { randomOf } from '../../../sim/random.ts'
import { firstRow, type ModelDraft, parseModelRow } from './memory-book.ts'
import { openMemoryTable } from './memory-table.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { type ModelNode, openModelNode } from './model-node.ts'
import { openModelOracle } from './model-oracle.ts'
import {
  disturb,
  DISTURBED_MS,
  type Happening,
  HAPPENINGS,
  repair,
  type ScheduleKind,
  type World,
} from './model-faults.ts'
import type { Mutant } from './mutant.ts'

/** Events of a schedule, and what was wrong. */
type ScheduleReport = Readonly<{
  wrong: readonly string[]
  /** Nodes that stopped, by cause. */
  stops: readonly string[]
  counts: Readonly<Record<Happening, number>>
  virtualMs: number
}>

/** Longest virtual time until all is published after the disturbance. */
const CALM_MS = 120_000
const PUBLICATIONS = 40

/** Runs one schedule in virtual time. The seed decides everything. */
export async function runSchedule(seed: string, kind: ScheduleKind, mutant: Mutant): Promise<ScheduleReport> {
  const world = openWorld(seed, kind, mutant)
  const { clock, counts, nodes, oracle, table } = world
  for (const node of nodes) node.start()
  const published = Promise.all(Array.from({ length: PUBLICATIONS }, (_, index) => publish(world, index)))
  await disturb(world)
  counts.early = counts.acknowledged
  repair(world)
  const calm = new AbortController()
  const isDone = await Promise.race([
    published.then(() => true),
    clock.sleep(CALM_MS, calm.signal).then(
      () => false,
      () => true,
    ),
  ])
  calm.abort()
  await catchUp(world)
  const stops = stopsOf(nodes)
  for (const node of nodes) {
    counts.evidence += node.evidence.size
    counts.takeovers += node.run()?.node.state().takeoverTotal ?? 0
    node.crash()
  }
  clock.stop()
  counts.rows = table.rows().length
  const wrong = stops.length === 0 ? [...oracle.judge(nodes)] : []
  if (stops.length > 0 && kind !== 'loss')
    wrong.push(`nodes stopped: ${stops.map(({ says }) => says).join('; ')}`)
  if (stops.length > 0 && kind === 'loss') wrong.push(...judgeFork(world, stops))
  if (!isDone && stops.length < nodes.length) wrong.push('not all was published after the faults')
  return { wrong, stops: stops.map(({ says }) => says), counts, virtualMs: clock.now() }
}

function openWorld(seed: string, kind: ScheduleKind, mutant: Mutant): World {
  const random = randomOf(seed)
  const clock = openModelClock()
  const first = firstRow()
  const table = openMemoryTable({ clock, random, first })
  const oracle = openModelOracle()
  const parts = { table, clock, first, onSigned: oracle.signed, mutant }
  const nodes = ['A', 'B', 'C'].map((name) => openModelNode(name, parts))
  const counts = Object.fromEntries(HAPPENINGS.map((name) => [name, 0])) as Record<Happening, number>
  return { kind, random, clock, table, nodes, oracle, counts }
}

/** Sends one publication until it is acknowledged. A second one then needs the first, at any node. */
async function publish(world: World, index: number): Promise<void> {
  const { random, clock } = world
  await clock.sleep(random.below(DISTURBED_MS))
  // Refs are few, so that publications share them.
  const refs = Array.from({ length: random.between(1, 3) }, () => `ref ${random.below(PUBLICATIONS * 2)}`)
  const needed = random.chance(0.3) ? `ref ${random.below(PUBLICATIONS * 2)}` : null
  const answer = await send(world, `${index}`, [...new Set(refs)], needed)
  const [first] = refs
  if (answer === 'published' && first !== undefined)
    await send(world, `${index} after`, [`after ${index}`], first)
}

/** Asks one node after the other, as `publish --to A,B,C` does. */
async function send(
  { clock, counts, kind, oracle, random, nodes }: World,
  name: string,
  refs: readonly string[],
  needs: string | null,
): Promise<'published' | 'refused'> {
  let next = random.below(nodes.length)
  for (let attempt = 1; ; attempt += 1) {
    const drafts: readonly ModelDraft[] = refs.map((ref) => ({
      ref,
      needs,
      attempt: `${name} attempt ${attempt} ${ref}`,
    }))
    const before = oracle.acknowledgements()
    const result = (await nodes[next]?.submit(drafts)) ?? 'died'
    if (result === 'died' || result.is === 'unknown') counts.unknown += 1
    else if (result.is !== 'committed') {
      counts.denied += 1
      oracle.denied(drafts)
      next = (next + 1) % nodes.length
    } else if ('missing' in result.value) {
      counts.refused += 1
      // After the loss of a tail that nobody has put back yet, what was in it is missing.
      if (kind !== 'loss') oracle.missing(result.value.missing, before)
      oracle.denied(drafts)
      return 'refused'
    } else {
      counts.acknowledged += refs.length
      oracle.acknowledged(drafts, result.value.seqs)
      return 'published'
    }
    await clock.sleep(200 + random.below(600))
  }
}

/** Waits until all nodes that run have the end of the log. */
async function catchUp({ clock, nodes, table }: World): Promise<void> {
  const isEven = (): boolean =>
    nodes.every((node) => {
      const stopped = node.run()?.node.state().stopped ?? null
      if (stopped === null) return node.disk.rows.length === table.rows().length
      // A process that is still stopped by a signal keeps its evidence when it goes on.
      return stopped.is !== 'fork' || node.evidence.size > 0
    })
  for (let waits = 0; waits < 60 && !isEven(); waits += 1) await clock.sleep(500)
}

type Stopped = Readonly<{ node: ModelNode; says: string }>

const stopsOf = (nodes: readonly ModelNode[]): readonly Stopped[] =>
  nodes.flatMap((node) => {
    const stop = node.run()?.node.state().stopped ?? null
    return stop === null ? [] : [{ node, says: `${node.name} ${stop.is} at ${stop.place}: ${stop.reason}` }]
  })

/** A declared fork: whoever differs from the table has stopped and kept its rows, and the others have the table's. */
function judgeFork({ nodes, oracle, table }: World, stops: readonly Stopped[]): readonly string[] {
  const stopped = new Set(stops.map(({ node }) => node))
  const rows = table.rows().map(({ bytes }) => Buffer.from(bytes).toString())
  const wrong: string[] = []
  for (const { name, disk, evidence } of nodes) {
    const own = disk.rows.map((bytes) => Buffer.from(bytes).toString())
    const differing = own.filter((bytes, index) => bytes !== rows[index])
    const isStopped = stopped.has(nodes.find((node) => node.name === name) ?? nodes[0]!)
    if (!isStopped && differing.length + rows.length - own.length > 0)
      wrong.push(`${name} differs, and works`)
    const kept = new Set([...(evidence.get('ours') ?? [])].map(({ bytes }) => Buffer.from(bytes).toString()))
    const lost = differing.filter((bytes) => !kept.has(bytes))
    if (lost.length > 0) wrong.push(`${name} kept no evidence of ${lost.length} rows`)
  }
  const known = new Set(
    nodes.flatMap(({ disk }) =>
      disk.rows.flatMap((bytes) => parseModelRow(bytes).drafts.map(({ ref }) => ref)),
    ),
  )
  wrong.push(...oracle.lostAcknowledgements(known))
  return wrong
}
