import type { Random } from '../../../sim/random.ts'
import { MANY_FAULTS, type MemoryTable, NO_FAULTS } from './memory-table.ts'
import type { ModelClock } from '../../stage/virtual-clock.ts'
import type { ModelNode } from './model-node.ts'
import type { ModelOracle } from './model-oracle.ts'

/**
 * - `faults`: faults of the network, crashes, stopped processes, full disks, standbys that are away, failovers to the
 *   synchronous standby, a pooler.
 * - `restore`: the table also loses its tail, while all nodes run and are connected.
 * - `loss`: the table loses its tail at any time, or the asynchronous standby is promoted.
 */
export type ScheduleKind = 'faults' | 'restore' | 'loss'

export const HAPPENINGS = [
  'rows',
  'acknowledged',
  'refused',
  'unknown',
  'denied',
  'crash',
  'close',
  'cut',
  'pause',
  'full',
  'standby',
  'released',
  'failover',
  'pooler',
  'loss',
  'evidence',
  'takeovers',
  'early',
] as const
export type Happening = (typeof HAPPENINGS)[number]

/** Virtual duration of the disturbance, in milliseconds. */
export const DISTURBED_MS = 60_000

/** A schedule that runs. */
export type World = Readonly<{
  kind: ScheduleKind
  random: Random
  clock: ModelClock
  table: MemoryTable
  nodes: readonly ModelNode[]
  oracle: ModelOracle
  counts: Record<Happening, number>
}>

/** Disturbs database and nodes at random until the end of the disturbance. */
export async function disturb(world: World): Promise<void> {
  const { clock, kind, random } = world
  const lossMs = kind === 'faults' ? Number.POSITIVE_INFINITY : 15_000 + random.below(20_000)
  let isLost = false
  while (clock.now() < DISTURBED_MS) {
    await clock.sleep(random.below(2500))
    if (!isLost && clock.now() >= lossMs) {
      isLost = true
      await lose(world)
    }
    disturbTable(world)
    const node = world.nodes[random.below(world.nodes.length)]
    if (node !== undefined) disturbNode(world, node)
  }
}

async function lose(world: World): Promise<void> {
  const { clock, counts, kind, random, table } = world
  if (kind === 'restore') {
    repair(world)
    // All nodes follow to the end, and show their places.
    await clock.sleep(20_000)
    counts.loss += table.loseTail(random.between(1, 4)).length
    await clock.sleep(20_000)
  } else if (random.chance(0.5)) counts.loss += table.loseTail(random.between(1, 4)).length
  else {
    const before = table.rows().length
    table.failover('async')
    counts.loss += before - table.rows().length
  }
}

function disturbTable({ counts, random, table }: World): void {
  if (random.chance(0.4)) table.setFaults(random.chance(0.7) ? MANY_FAULTS : NO_FAULTS)
  table.setClockOffset(random.chance(0.05) ? 6_000 : 0)
  switch (
    random.pick([
      'away',
      'back',
      'back',
      'back',
      'back',
      'released',
      'failover',
      'pooler',
      'nothing',
      'nothing',
    ])
  ) {
    case 'away':
      counts.standby += 1
      return table.setStandby(false)
    case 'back':
      table.setPooled(false)
      return table.setStandby(true)
    case 'released':
      counts.released += 1
      return table.releaseWaits()
    case 'failover':
      counts.failover += 1
      return table.failover('sync')
    case 'pooler':
      counts.pooler += 1
      return table.setPooled(true)
    case 'nothing':
  }
}

function disturbNode({ counts, random }: World, node: ModelNode): void {
  const { disk } = node
  const run = node.run()
  if (run === null) return node.start()
  switch (random.pick(['crash', 'close', 'cut', 'heal', 'heal', 'heal', 'pause', 'full', 'room', 'room'])) {
    case 'crash':
      counts.crash += 1
      return node.crash()
    case 'close':
      counts.close += 1
      return void node.close()
    case 'cut':
      counts.cut += 1
      return run.link.cut()
    case 'pause':
      counts.pause += 1
      return run.link.pause(random.between(2_000, 15_000))
    case 'full':
      counts.full += 1
      disk.isFull = true
      return
    case 'room':
      disk.isFull = false
      return
    case 'heal':
      return run.link.heal()
    case 'nothing':
  }
}

/** Ends all faults, and starts the nodes that do not run. */
export function repair({ nodes, table }: World): void {
  table.setFaults(NO_FAULTS)
  table.setClockOffset(0)
  table.setPooled(false)
  table.setStandby(true)
  for (const node of nodes) {
    node.disk.isFull = false
    node.run()?.link.heal()
    node.start()
  }
}
