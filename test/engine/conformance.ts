import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import type { EngineConnection, LogEngine } from '../../src/engine/log-engine.ts'
import { EngineError, MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'
import { assertTaken, appendUntilRead, readAll } from './settled-append.ts'

/** An engine under test. */
export type EngineRig = AsyncDisposable &
  Readonly<{
    /** Begins a new empty log, and opens so many connections with it. The suite disposes them. */
    open(connections: number): Promise<readonly EngineConnection[]>
    /** Opens one more connection with the newest log. */
    again(): Promise<EngineConnection>
    /** Disturbs the engine while it is in use: kills a broker, cuts a connection. Without it, the suite skips those tests. */
    kill?(): Promise<void>
    /** Repairs all that `kill` did. */
    heal?(): Promise<void>
    /** The clock that `wait` follows. */
    now(): number
    /** Times that `kill` and `heal` are called; 3 by default. */
    disturbances?: number
    /** Milliseconds of appends for each disturbance and after each repair; 3 s by default. */
    disturbedMs?: number
    /** Complaints of `inspect` in this rig, if it is not set up as an operator must: a pattern for each sentence. */
    complaints?: readonly RegExp[]
  }>

/** Tests of the port that every engine passes. `openRig` is called once; each test begins a new log. */
export function testConformance(
  name: string,
  openRig: () => Promise<EngineRig>,
  skip: string | false = false,
): void {
  suite(`${name} as an engine`, { skip, timeout: 300_000 }, () => {
    let opened: Promise<EngineRig> | undefined
    const rig = (): Promise<EngineRig> => (opened ??= openRig())
    const withLog =
      (count: number, check: (connections: readonly EngineConnection[], rig: EngineRig) => Promise<void>) =>
      async (): Promise<void> => {
        const connections = await (await rig()).open(count)
        try {
          await check(connections, await rig())
        } finally {
          for (const connection of connections) await connection[Symbol.asyncDispose]()
        }
      }

    test('has an empty log at first', withLog(1, hasEmptyLog))
    test('appends at exactly the next free place', withLog(2, appendsAtNextPlace))
    test('gives a place to one of its competitors', withLog(4, givesPlaceToOne))
    test('reads in order, without gap, within a size', withLog(2, readsInOrder))
    test('has every acknowledged append below its read barrier', withLog(3, hasBarrier))
    test('wakes a waiting reader', withLog(2, wakesReader))
    test('carries what a writer tells to the others', withLog(3, carriesWhatIsTold))
    test('carries a message of 4 MiB', withLog(2, carriesBigMessage))
    test('keeps its log for a new connection', withLog(1, keepsLog))
    test('has a clock and settings', withLog(1, hasClockAndSettings))
    test('loses and doubles nothing while it is disturbed', async (t) => {
      if ((await rig()).kill === undefined) return t.skip('this rig cannot disturb its engine')
      await withLog(3, survivesDisturbance)()
    })
    test('ends', async () => {
      await (await rig())[Symbol.asyncDispose]()
    })
  })
}

type Connections = readonly EngineConnection[]

const textBytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function at(connections: Connections, index: number): EngineConnection {
  const connection = connections[index]
  assert.ok(connection !== undefined)
  return connection
}

/** Appends messages that nobody competes for, whatever the answers. */
async function fill(log: LogEngine, from: number, bodies: readonly Uint8Array[]): Promise<void> {
  for (const [index, body] of bodies.entries()) {
    const settled = await appendUntilRead(log, from + index, body, () => true)
    assert.equal(settled?.isOurs, true)
  }
}

/** Reads until the replica has a message at the place. */
async function readSome(log: LogEngine, from: number, bytesMax: number): ReturnType<LogEngine['read']> {
  for (;;) {
    const found = await log.read(from, bytesMax)
    if (found.length > 0) return found
    await log.wait(from, 50)
  }
}

async function textsOf(log: LogEngine): Promise<readonly string[]> {
  return (await readAll(log)).map(({ bytes }) => Buffer.from(bytes).toString())
}

async function hasEmptyLog(connections: Connections): Promise<void> {
  const { log } = at(connections, 0)
  assert.equal(await log.last(), 0)
  assert.deepEqual(await log.read(1, MESSAGE_BYTES_MAX), [])
}

async function appendsAtNextPlace(connections: Connections): Promise<void> {
  const [{ log }, { log: other }] = [at(connections, 0), at(connections, 1)]
  await assertTaken(log, 2, textBytes('gap'))
  await fill(log, 1, [textBytes('a')])
  await assertTaken(other, 1, textBytes('again'))
  await assertTaken(other, 3, textBytes('gap'))
  await fill(other, 2, [textBytes('b')])
  await fill(log, 3, [textBytes('c')])
  await assertTaken(log, 2, textBytes('again'))
  await assertTaken(log, 5, textBytes('gap'))
  assert.deepEqual(await textsOf(log), ['a', 'b', 'c'])
  assert.deepEqual(await textsOf(other), ['a', 'b', 'c'])
}

async function givesPlaceToOne(connections: Connections): Promise<void> {
  const owners: string[] = []
  for (let place = 1; place <= 40; place += 1) {
    const results = await Promise.all(
      connections.map(async ({ log }, index) => {
        const body = `${place} of ${index}`
        const settled = await appendUntilRead(log, place, textBytes(body), () => true)
        return settled?.isOurs === true ? [body] : []
      }),
    )
    const [owner, ...others] = results.flat()
    assert.deepEqual(others, [], `place ${place} has one owner`)
    owners.push(owner ?? 'nobody')
  }
  for (const { log } of connections) assert.deepEqual(await textsOf(log), owners)
}

async function readsInOrder(connections: Connections): Promise<void> {
  const [{ log }, { log: other }] = [at(connections, 0), at(connections, 1)]
  const bodies = Array.from({ length: 30 }, (_, index) => textBytes(String(index + 1).padStart(100, '.')))
  await fill(log, 1, bodies)
  await readAll(other)
  for (const [from, bytesMax, longest] of [
    [1, 10_000, 30],
    [1, 1000, 10],
    [7, 250, 2],
    [7, 1, 1],
    [30, 1000, 1],
  ] as const) {
    const found = await readSome(other, from, bytesMax)
    assert.ok(found.length >= 1 && found.length <= longest, `${found.length} of ${longest} from ${from}`)
    found.forEach(({ place, bytes }, index) => {
      assert.equal(place, from + index)
      assert.deepEqual(Buffer.from(bytes), Buffer.from(bodies[place - 1] ?? []))
    })
  }
  assert.deepEqual(await other.read(31, 1000), [])
  assert.deepEqual(await other.read(1000, 1000), [])
}

async function hasBarrier(connections: Connections): Promise<void> {
  let acknowledged = 0
  let barriers = 0
  const running = new AbortController()
  const reader = async (log: LogEngine): Promise<void> => {
    for (; !running.signal.aborted; barriers += 1) {
      const before = acknowledged
      const last = await log.last()
      assert.ok(last >= before, `last() says ${last} after place ${before} was acknowledged`)
      const seen = await log.read(Math.max(1, before), MESSAGE_BYTES_MAX)
      assert.ok((await log.last()) >= (seen.at(-1)?.place ?? 0), 'last() is not behind a read')
    }
  }
  const writer = async (log: LogEngine, name: string): Promise<void> => {
    for (let place = 1; place <= 60; place += 1) {
      const settled = await appendUntilRead(log, place, textBytes(`${name} ${place}`), () => true)
      if (settled?.isAcknowledged === true) acknowledged = Math.max(acknowledged, place)
      assert.ok((await log.last()) >= place)
    }
  }
  const [a, b, c] = [at(connections, 0).log, at(connections, 1).log, at(connections, 2).log]
  const readers = Promise.all([reader(c), reader(a)])
  await Promise.all([writer(a, 'a'), writer(b, 'b')])
  running.abort()
  await readers
  assert.ok(barriers > 10 && acknowledged >= 50, `${barriers} barriers, ${acknowledged} acknowledged`)
}

async function wakesReader(connections: Connections, { now }: EngineRig): Promise<void> {
  const [{ log }, { log: other }] = [at(connections, 0), at(connections, 1)]
  for (let place = 1; place <= 3; place += 1) {
    const began = now()
    const woken = other.wait(place, 60_000)
    await other.last()
    await fill(log, place, [textBytes('wake')])
    await woken
    assert.ok(now() - began < 10_000, 'an append wakes a reader')
  }
  const began = now()
  await other.wait(2, 60_000)
  assert.ok(now() - began < 10_000, 'a message that is there wakes a reader')
  await other.wait(4, 50)
}

async function carriesWhatIsTold(connections: Connections): Promise<void> {
  const heard = connections.map((connection) => {
    const texts = new Set<string>()
    connection.onTold((bytes) => void texts.add(Buffer.from(bytes).toString()))
    return texts
  })
  const marks = connections.map((_, index) => `${index} ${'mark\0é'.repeat(150)}`)
  const all = (): boolean =>
    heard.every((texts, index) => marks.every((mark, by) => by === index || texts.has(mark)))
  for (let round = 0; round < 100 && !all(); round += 1) {
    connections.forEach((connection, index) => connection.tell(textBytes(marks[index] ?? '')))
    await at(connections, 0).log.wait(1, 50)
  }
  assert.ok(all(), 'every writer hears every other')
}

async function carriesBigMessage(connections: Connections): Promise<void> {
  const [{ log }, { log: other }] = [at(connections, 0), at(connections, 1)]
  const [big, bigger] = [randomBytes(MESSAGE_BYTES_MAX - 1), randomBytes(MESSAGE_BYTES_MAX)]
  await fill(log, 1, [big, bigger, textBytes('small'), new Uint8Array(1)])
  const all = await readAll(other)
  assert.deepEqual(
    all.map(({ bytes }) => bytes.length),
    [big.length, bigger.length, 5, 1],
  )
  assert.ok(Buffer.compare(all[0]?.bytes ?? big.subarray(1), big) === 0)
  assert.ok(Buffer.compare(all[1]?.bytes ?? big, bigger) === 0)
}

async function keepsLog(connections: Connections, rig: EngineRig): Promise<void> {
  const first = at(connections, 0)
  await fill(first.log, 1, ['a', 'b', 'c'].map(textBytes))
  await first[Symbol.asyncDispose]()
  assert.equal(await first.log.append(4, textBytes('closed')), 'unknown')
  await assert.rejects(first.log.last(), EngineError)
  await assert.rejects(first.log.read(1, 1000), EngineError)
  await first.log.wait(4, 10)
  first.tell(textBytes('closed'))
  await using second = await rig.again()
  assert.deepEqual(await textsOf(second.log), ['a', 'b', 'c'])
  await fill(second.log, 4, [textBytes('d')])
  assert.deepEqual(await textsOf(second.log), ['a', 'b', 'c', 'd'])
}

async function hasClockAndSettings(connections: Connections, { complaints = [] }: EngineRig): Promise<void> {
  const { offsetMs, errorMs } = await at(connections, 0).clockOffset()
  assert.ok(errorMs >= 0 && errorMs < 5000 && Math.abs(offsetMs) < 5000, `${offsetMs} ± ${errorMs} ms`)
  const found = await at(connections, 0).inspect()
  assert.equal(found.length, complaints.length, found.join('; '))
  found.forEach((complaint, index) => assert.match(complaint, complaints[index] ?? /^$/))
}

async function survivesDisturbance(connections: Connections, rig: EngineRig): Promise<void> {
  const { kill, heal, now, disturbances = 3, disturbedMs = 3000 } = rig
  const disturbed = new AbortController()
  const isDisturbed = (): boolean => !disturbed.signal.aborted
  const acknowledged = new Map<number, string>()
  const write = async ({ log }: EngineConnection, name: string): Promise<number> => {
    let mine = 0
    for (let place = 1; isDisturbed(); place += 1) {
      const body = `${name} ${place}`
      const settled = await appendUntilRead(log, place, textBytes(body), isDisturbed)
      if (settled?.isOurs !== true) continue
      mine += 1
      assert.equal(acknowledged.get(place), undefined, `place ${place} has one owner`)
      acknowledged.set(place, body)
    }
    return mine
  }
  const pause = async (ms: number): Promise<void> => {
    const until = now() + ms
    while (now() < until) await at(connections, 0).log.wait(Number.MAX_SAFE_INTEGER, 100)
  }
  const writers = Promise.all(connections.map((connection, index) => write(connection, `writer ${index}`)))
  for (let round = 0; round < disturbances; round += 1) {
    await pause(disturbedMs)
    await kill?.()
    await pause(disturbedMs)
    await heal?.()
  }
  const before = acknowledged.size
  for (let waits = 0; waits < 20 && acknowledged.size === before; waits += 1) await pause(disturbedMs)
  assert.ok(acknowledged.size > before, 'appends go on after the repair')
  disturbed.abort()
  await writers
  for (const { log } of connections) {
    const all = await readAll(log)
    const bodies = all.map(({ bytes }) => Buffer.from(bytes).toString())
    assert.equal(new Set(bodies).size, bodies.length, 'nothing is doubled')
    for (const [place, body] of acknowledged) assert.equal(bodies[place - 1], body, `place ${place}`)
  }
}
