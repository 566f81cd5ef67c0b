import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Random } from '../../sim/random.ts'
import { randomOf } from '../../sim/random.ts'
import type { DraftSource } from '../../src/publish/admission/grammar.ts'
import { draftDigest, parseDraft } from '../../src/publish/admission/grammar.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { readIdentity } from '../../src/log/store/store.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import type { Replica } from '../../src/publish/replica/replica.ts'
import { openReplica } from '../../src/publish/replica/replica.ts'
import type { Book } from '../../src/publish/replica/replica-book.ts'
import type { StoreBook } from '../../src/publish/book/store-book.ts'
import { MANY_FAULTS, NO_FAULTS } from '../engine/engine-faults.ts'
import type { MemoryConnection, MemoryEngine } from '../engine/memory-engine.ts'
import { openMemoryEngine } from '../engine/memory-engine.ts'
import type { BookCluster } from '../messages/book-cluster.ts'
import { assertSameTables, openCluster } from '../messages/book-cluster.ts'
import { openCampaign } from '../torture/campaign.ts'
import type { ModelClock } from '../stage/virtual-clock.ts'
import { openModelClock } from '../stage/virtual-clock.ts'
import { DiskFull } from './memory-book.ts'

const CAMPAIGN = openCampaign('replica-store')
const SCHEDULES = CAMPAIGN.size
/** Number of the first schedule. No two seeds share a schedule. */
const FIRST = CAMPAIGN.seedNumber * 10_000
const SOURCE: DraftSource = { chain: 'opaque', mode: 'publish' }
const PUBLICATIONS = 60
const DISTURBED_MS = 30_000
const STARTED_MS = Date.UTC(2026, 10, 30, 23, 59)

/** A writer with a real store: `crash` drops its memory, and `start` opens the store again. */
type StoreWriter = Readonly<{ start(): void; crash(): void; heal(): void; run(): Run | null }>
type Run = Readonly<{ book: StoreBook; replica: Replica; connection: MemoryConnection; died: Promise<null> }>

type World = Readonly<{
  clock: ModelClock
  random: Random
  engine: MemoryEngine
  cluster: BookCluster
  /** Share of local commits that fail. */
  failing: { share: number }
}>

function openWriter({ clock, random, engine, cluster, failing }: World, index: number): StoreWriter {
  const known = new Set<string>()
  let run: Run | null = null
  let die = (): void => undefined
  let runs = 0
  return {
    run: () => run,
    heal: () => run?.connection.heal(),
    start() {
      if (run !== null) return
      runs += 1
      const id = `${index} ${runs}`
      const death = Promise.withResolvers<null>()
      const book = cluster.node(index).book()
      const connection = engine.connect()
      let isDead = false
      const sleep = (ms: number, signal: AbortSignal): Promise<unknown> =>
        clock.sleep(ms, signal).then(() => (isDead ? new Promise(() => undefined) : undefined))
      const replica = openReplica({
        book: failingBook(book, () => random.chance(failing.share)),
        connection,
        timers: { now: clock.now, sleep },
        random: random.next,
        own: () => ({
          node: String(index),
          run: id,
          logId: readIdentity(cluster.node(index).db()).id,
          stream: 1,
          seq: 0,
          root: '',
          program: '',
          frames: [1],
          keys: [],
          rules: '',
        }),
        keys: book.keys,
        nowMs: () => STARTED_MS + clock.now(),
        known: { names: () => [...known], add: (name) => void known.add(name) },
        evidence: { keep: () => undefined },
        mayRetry: (error) => error instanceof DiskFull,
        accepts: () => true,
        onBooks: () => undefined,
        onNotice: () => undefined,
      })
      die = () => {
        isDead = true
        connection.cut()
        death.resolve(null)
      }
      run = { book, replica, connection, died: death.promise }
    },
    crash() {
      if (run === null) return
      run = null
      die()
      cluster.node(index).restart()
    },
  }
}

/** The same book, whose disk fails at some commits. */
function failingBook(book: StoreBook, fails: () => boolean): Book {
  const assertRoom = (): void => {
    if (fails()) throw new DiskFull('the disk is full')
  }
  return {
    ...book,
    commit(bytes) {
      assertRoom()
      book.commit(bytes)
    },
    apply(messages) {
      assertRoom()
      book.apply(messages)
    },
  }
}

function draftOf(ref: string): Draft {
  const parsed = parseDraft({ ref, type: 'treasury', kind: 'deposit', kots: '1' }, SOURCE)
  assert.ok(parsed.ok)
  return parsed.draft
}

/** Publishes refs in the open transaction. Returns the seq of each. */
function publishOpen({ appender }: StoreBook, refs: readonly string[], now: number): readonly number[] {
  const seqs = refs.map((ref) => {
    const published = appender.published(ref)
    if (published !== undefined) return published.seq
    const draft = draftOf(ref)
    return appender.append(draft, { ref, digest: draftDigest(draft) }, msOf(Math.round(now))).seq
  })
  appender.keep()
  return seqs
}

async function publish(
  world: World,
  writers: readonly StoreWriter[],
  acks: Map<string, number>,
): Promise<void> {
  const { clock, random } = world
  await clock.sleep(random.below(DISTURBED_MS))
  const refs = [
    ...new Set(Array.from({ length: random.between(1, 5) }, () => `ref ${random.below(PUBLICATIONS * 2)}`)),
  ]
  for (;;) {
    const run = writers[random.below(writers.length)]?.run() ?? null
    // The minutes of the schedule cross the end of a month.
    const now = STARTED_MS + 4 * clock.now()
    const result =
      run && (await Promise.race([run.replica.commit(() => publishOpen(run.book, refs, now)), run.died]))
    if (result?.is === 'committed') {
      refs.forEach((ref, index) => {
        assert.equal(acks.get(ref) ?? result.value[index], result.value[index], `${ref} has one seq`)
        acks.set(ref, result.value[index] ?? 0)
      })
      return
    }
    await clock.sleep(200 + random.below(1500))
  }
}

async function disturb(
  { clock, engine, failing, random }: World,
  writers: readonly StoreWriter[],
): Promise<void> {
  while (clock.now() < DISTURBED_MS) {
    await clock.sleep(random.below(2000))
    if (random.chance(0.4)) engine.setFaults(random.chance(0.7) ? MANY_FAULTS : NO_FAULTS)
    failing.share = random.chance(0.3) ? 0.3 : 0
    const writer = writers[random.below(writers.length)]
    const chance = random.next()
    if (writer?.run() === null) writer.start()
    else if (chance < 0.3) writer?.crash()
    else if (chance < 0.5) writer?.run()?.connection.cut()
    else writer?.heal()
  }
  engine.setFaults(NO_FAULTS)
  failing.share = 0
  for (const writer of writers) {
    writer.heal()
    writer.start()
  }
}

async function runStoreSchedule(seed: number): Promise<Readonly<{ messages: number; acknowledged: number }>> {
  const clock = openModelClock()
  const random = randomOf(`store ${seed}`)
  using cluster = openCluster({
    nodes: 3,
    asksChain: false,
    balances: 'refuse',
    now: () => msOf(STARTED_MS),
  })
  const engine = openMemoryEngine({ clock, random: random.next })
  await engine.connect().log.append(1, cluster.messages[0]?.bytes ?? assert.fail())
  const world: World = { clock, random, engine, cluster, failing: { share: 0 } }
  const writers = [0, 1, 2].map((index) => openWriter(world, index))
  for (const writer of writers) writer.start()
  const acks = new Map<string, number>()
  const published = Promise.all(Array.from({ length: PUBLICATIONS }, () => publish(world, writers, acks)))
  try {
    await disturb(world, writers)
    await published
    const isEven = (): boolean =>
      writers.every(({ run }) => run()?.replica.state().end.place === engine.messages().length)
    for (let waits = 0; waits < 60 && !isEven(); waits += 1) await clock.sleep(500)
    assert.ok(isEven(), 'all nodes reach the end')
  } finally {
    for (const writer of writers) writer.crash()
    clock.stop()
  }
  const [first, second, third] = cluster.nodes
  assert.ok(first !== undefined && second !== undefined && third !== undefined)
  assertSameTables(first.db(), second.db())
  assertSameTables(first.db(), third.db())
  assert.equal(first.book().checkpoint(), second.book().checkpoint())
  for (const [ref, seq] of acks) assert.equal(first.book().appender.published(ref)?.seq, seq, ref)
  assert.equal(Number(first.db().prepare('SELECT count(*) AS n FROM refs').get()?.['n']), acks.size)
  return { messages: engine.messages().length, acknowledged: acks.size }
}

suite('three writers with real stores', () => {
  test('end with the same rows and the same signed tree, whatever the engine, the disks and the processes did', async (t) => {
    const sum = { messages: 0, acknowledged: 0 }
    for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
      const { messages, acknowledged } = await runStoreSchedule(seed)
      sum.messages += messages
      sum.acknowledged += acknowledged
    }
    const figures = { schedules: SCHEDULES, ...sum }
    CAMPAIGN.finish(t, figures, { messages: SCHEDULES * 10, acknowledged: SCHEDULES * PUBLICATIONS })
  })
})
