import type { Random } from '../../sim/random.ts'
import { randomOf } from '../../sim/random.ts'
import { MANY_FAULTS, NO_FAULTS } from '../engine/engine-faults.ts'
import type { MemoryEngine } from '../engine/memory-engine.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import type { ModelClock } from '../stage/virtual-clock.ts'
import { openModelClock } from '../stage/virtual-clock.ts'
import type { ModelDraft } from './memory-book.ts'
import type { ModelOracle } from './model-oracle.ts'
import { openModelOracle } from './model-oracle.ts'
import type { ModelWriter } from './model-writer.ts'
import { openModelWriter } from './model-writer.ts'
import type { Mutant } from './mutant.ts'

/**
 * - `faults`: faults of the network, crashes, full disks.
 * - `restore`: the engine also loses its tail, and says so, while all writers run and are connected.
 * - `loss`: the engine loses its tail at any time, perhaps in silence.
 */
export type ScheduleKind = 'faults' | 'restore' | 'loss'

/** Events of a schedule, and what was wrong. */
type ScheduleReport = Readonly<{
  wrong: readonly string[]
  /** Writers that stopped, by cause. */
  stops: readonly string[]
  counts: Readonly<Record<Happening, number>>
  virtualMs: number
}>

type Happening =
  | 'messages'
  | 'acknowledged'
  | 'refused'
  | 'unknown'
  | 'denied'
  | 'crash'
  | 'close'
  | 'cut'
  | 'full'
  | 'loss'
  | 'evidence'

/** Virtual duration of the disturbance, and the longest time until all is published after it. */
const DISTURBED_MS = 40_000
const CALM_MS = 90_000
const PUBLICATIONS = 40
/** Longest time until a writer that runs notices a lost tail by itself, and offers it again. */
const UNNOTICED_MS = 25_000

type World = Readonly<{
  kind: ScheduleKind
  random: Random
  clock: ModelClock
  engine: MemoryEngine
  writers: readonly ModelWriter[]
  oracle: ModelOracle
  counts: Record<Happening, number>
  /** Virtual time until which a lost tail may not be noticed yet. */
  loss: { untilMs: number }
}>

/** Runs one schedule in virtual time. The seed decides everything. */
export async function runSchedule(seed: string, kind: ScheduleKind, mutant: Mutant): Promise<ScheduleReport> {
  const world = openWorld(seed, kind, mutant)
  const { clock, oracle, writers, counts } = world
  for (const writer of writers) writer.start()
  const published = Promise.all(Array.from({ length: PUBLICATIONS }, (_, index) => publish(world, index)))
  await disturb(world)
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
  const stops = stopsOf(writers)
  const isWhole = stops.length === 0
  if (isWhole && isDone) await catchUp(world)
  for (const writer of writers) {
    counts.evidence += writer.evidence.size
    writer.crash()
  }
  clock.stop()
  counts.messages = Math.max(...writers.map(({ disk }) => disk.messages.length))
  const wrong = isWhole || kind !== 'loss' ? [...oracle.judge(writers)] : []
  if (!isDone && (isWhole || kind !== 'loss')) wrong.push('not all was published after the faults')
  if (!isWhole && kind !== 'loss') wrong.push(`writers stopped: ${stops.join('; ')}`)
  if (!isWhole && kind === 'loss') wrong.push(...judgeFork(world, stops))
  return { wrong, stops, counts, virtualMs: clock.now() }
}

function openWorld(seed: string, kind: ScheduleKind, mutant: Mutant): World {
  const random = randomOf(seed)
  const clock = openModelClock()
  const engine = openMemoryEngine({ clock, random: random.next })
  const oracle = openModelOracle()
  const shared = { engine, timers: clock, random: random.next, onSigned: oracle.signed, mutant }
  const writers = ['A', 'B', 'C'].map((name) => openModelWriter(name, shared))
  const counts = {
    messages: 0,
    acknowledged: 0,
    refused: 0,
    unknown: 0,
    denied: 0,
    crash: 0,
    close: 0,
    cut: 0,
    full: 0,
    loss: 0,
    evidence: 0,
  }
  return {
    kind,
    random,
    clock,
    engine,
    writers,
    oracle,
    counts,
    loss: { untilMs: 0 },
  }
}

/** Sends one publication until it is acknowledged. A second one then needs the first, at any writer. */
async function publish(world: World, index: number): Promise<void> {
  const { random, clock } = world
  await clock.sleep(random.below(DISTURBED_MS))
  // Refs are few, so that publications share them.
  const refs = Array.from({ length: random.between(1, 3) }, () => `ref ${random.below(PUBLICATIONS * 2)}`)
  const needed = random.chance(0.3) ? `ref ${random.below(PUBLICATIONS * 2)}` : null
  const isAnswered = await send(world, `${index}`, [...new Set(refs)], needed)
  const [first] = refs
  if (isAnswered === 'published' && first !== undefined)
    await send(world, `${index} after`, [`after ${index}`], first)
}

async function send(
  { clock, counts, loss, oracle, random, writers }: World,
  name: string,
  refs: readonly string[],
  needs: string | null,
): Promise<'published' | 'refused'> {
  for (let attempt = 1; ; attempt += 1) {
    const drafts: readonly ModelDraft[] = refs.map((ref) => ({
      ref,
      needs,
      attempt: `${name} attempt ${attempt} ${ref}`,
    }))
    const writer = writers[random.below(writers.length)]
    const before = oracle.acknowledgements()
    const result = (await writer?.submit(drafts)) ?? 'died'
    if (result === 'died' || result.is === 'unknown') counts.unknown += 1
    else if (result.is !== 'committed') {
      counts.denied += 1
      oracle.denied(drafts)
    } else if ('missing' in result.value) {
      counts.refused += 1
      if (clock.now() > loss.untilMs) oracle.missing(result.value.missing, before)
      oracle.denied(drafts)
      return 'refused'
    } else {
      counts.acknowledged += refs.length
      oracle.acknowledged(drafts, result.value.seqs)
      return 'published'
    }
    await clock.sleep(200 + random.below(2000))
  }
}

/** Disturbs engine and writers at random until the end of the disturbance. */
async function disturb(world: World): Promise<void> {
  const { clock, engine, kind, random } = world
  const lossMs = kind === 'faults' ? Number.POSITIVE_INFINITY : 10_000 + random.below(15_000)
  let isLost = false
  while (clock.now() < DISTURBED_MS) {
    await clock.sleep(random.below(2500))
    if (!isLost && clock.now() >= lossMs) {
      isLost = true
      if (kind === 'restore') await settleDown(world)
      world.loss.untilMs = clock.now() + UNNOTICED_MS
      world.counts.loss += engine.loseTail(
        random.between(1, 4),
        kind === 'restore' || random.chance(0.5),
      ).length
      if (kind === 'restore') await clock.sleep(15_000)
    }
    if (random.chance(0.4)) engine.setFaults(random.chance(0.7) ? MANY_FAULTS : NO_FAULTS)
    engine.setClockOffset(random.chance(0.05) ? 6000 : 0)
    const writer = world.writers[random.below(world.writers.length)]
    if (writer !== undefined) disturbWriter(world, writer)
  }
}

function disturbWriter({ counts, random }: World, writer: ModelWriter): void {
  const { disk } = writer
  const run = writer.run()
  if (run === null) return writer.start()
  switch (random.pick(['crash', 'close', 'cut', 'heal', 'full', 'room', 'nothing'])) {
    case 'crash':
      counts.crash += 1
      return writer.crash()
    case 'close':
      counts.close += 1
      return void writer.close()
    case 'cut':
      counts.cut += 1
      return run.connection.cut()
    case 'full':
      counts.full += 1
      disk.isFull = true
      return
    case 'room':
      disk.isFull = false
      return
    case 'heal':
      return run.connection.heal()
    case 'nothing':
  }
}

/** All writers run, are connected and have heard each other, and no old append is on its way. */
async function settleDown(world: World): Promise<void> {
  repair(world)
  await world.clock.sleep(15_000)
}

function repair({ engine, writers }: World): void {
  engine.setFaults(NO_FAULTS)
  engine.setClockOffset(0)
  for (const writer of writers) {
    writer.disk.isFull = false
    writer.run()?.connection.heal()
    writer.start()
  }
}

/** Waits until all writers have the end of the log. */
async function catchUp({ clock, engine, writers }: World): Promise<void> {
  const isEven = (): boolean => writers.every(({ disk }) => disk.messages.length === engine.messages().length)
  for (let waits = 0; waits < 60 && !isEven(); waits += 1) await clock.sleep(500)
}

const stopsOf = (writers: readonly ModelWriter[]): readonly string[] =>
  writers.flatMap(({ name, run }) => {
    const stop = run()?.replica.state().stopped ?? null
    return stop === null ? [] : [`${name} ${stop.is} at ${stop.place}: ${stop.reason}`]
  })

/** A declared fork: all writers have stopped, and both branches are kept somewhere. */
function judgeFork({ writers }: World, stops: readonly string[]): readonly string[] {
  const wrong: string[] = []
  if (stops.length < writers.length) wrong.push(`only some writers stopped: ${stops.join('; ')}`)
  const kept = new Set(
    writers.flatMap(({ evidence }) =>
      [...evidence.values()].flat().map(({ bytes }) => Buffer.from(bytes).toString()),
    ),
  )
  const lengths = writers.map(({ disk }) => disk.messages.length)
  for (let index = 0; index < Math.max(...lengths); index += 1) {
    const branches = new Set(
      writers.flatMap(({ disk }) => {
        const bytes = disk.messages[index]
        return bytes === undefined ? [] : [Buffer.from(bytes).toString()]
      }),
    )
    const lost = [...branches].filter((bytes) => branches.size > 1 && !kept.has(bytes))
    if (lost.length > 0) wrong.push(`no evidence of ${lost.length} messages at place ${index + 1}`)
  }
  return wrong
}
