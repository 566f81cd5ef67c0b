import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openFairOrder, openFairPlaces, openFairTurns, SLICE_MS } from './fair-turns.ts'
import { setImmediate } from 'node:timers/promises'

/** A piece of work: its caller and the time it takes. */
type Work = Readonly<{ caller: string; ms: number }>

const works = (callers: number) =>
  fc.array(fc.record({ caller: fc.nat(callers - 1).map(String), ms: fc.integer({ min: 1, max: 500 }) }), {
    minLength: 1,
    maxLength: 200,
    size: 'max',
  })

/** Runs all work in turn, and returns it in the order in which it ran. */
function runAll(order: ReturnType<typeof openFairOrder<Work>>): readonly Work[] {
  const done: Work[] = []
  for (let taken = order.take(); taken !== undefined; taken = order.take()) {
    done.push(taken.work)
    taken.ended(taken.work.ms)
  }
  return done
}

suite('waiting work', () => {
  test('runs completely, and each caller’s own work in its order', () => {
    fc.assert(
      fc.property(works(5), (all) => {
        const order = openFairOrder<Work>(1, () => 0)
        for (const work of all) order.add(work.caller, work)
        const done = runAll(order)
        assert.equal(done.length, all.length)
        assert.equal(order.waiting(), 0)
        for (const caller of new Set(all.map((work) => work.caller))) {
          const own = (work: Work): boolean => work.caller === caller
          assert.deepEqual(done.filter(own), all.filter(own))
        }
      }),
    )
  })

  test('shares the time: two waiting callers differ by one piece of work of each at most', () => {
    fc.assert(
      fc.property(works(4), (all) => {
        const order = openFairOrder<Work>(1, () => 0)
        for (const work of all) order.add(work.caller, work)
        const left = new Map<string, number>()
        for (const { caller } of all) left.set(caller, (left.get(caller) ?? 0) + 1)
        const used = new Map([...left.keys()].map((caller) => [caller, 0]))
        const longest = Math.max(...all.map(({ ms }) => ms))
        for (let taken = order.take(); taken !== undefined; taken = order.take()) {
          const { caller, ms } = taken.work
          left.set(caller, (left.get(caller) ?? 0) - 1)
          used.set(caller, (used.get(caller) ?? 0) + ms)
          taken.ended(ms)
          const waiting = [...left].filter(([, count]) => count > 0).map(([one]) => used.get(one) ?? 0)
          assert.ok(waiting.length === 0 || Math.max(...waiting) - Math.min(...waiting) <= 2 * longest)
        }
      }),
    )
  })

  test('of a new caller comes first, before the queues of others', () => {
    fc.assert(
      fc.property(works(30), fc.nat(100), (all, before) => {
        const order = openFairOrder<Work>(1, () => 0)
        for (const work of all) order.add(work.caller, work)
        for (let index = 0; index < before; index += 1) {
          const taken = order.take()
          taken?.ended(taken.work.ms)
        }
        order.add('stranger', { caller: 'stranger', ms: 1 })
        assert.equal(order.take()?.work.caller, 'stranger')
      }),
    )
  })

  test('of a caller that has used much waits in a crowd, and less so with time', () => {
    const behind = (secondsAgo: number): number => {
      let nowMs = 0
      const order = openFairOrder<Work>(1, () => nowMs)
      order.add('guest', { caller: 'guest', ms: 30 })
      for (let index = 0; index < 1_000; index += 1) {
        order.add(`crowd ${index % 100}`, { caller: `crowd ${index % 100}`, ms: 5 })
      }
      order.take()?.ended(5)
      while (order.waiting() > 900) {
        const taken = order.take()
        taken?.ended(taken.work.ms)
      }
      nowMs = secondsAgo * 1_000
      order.add('guest', { caller: 'guest', ms: 1 })
      for (let turns = 0; ; turns += 1) {
        const taken = order.take()
        if (taken?.work.caller === 'guest') return turns
        taken?.ended(taken.work.ms)
      }
    }
    const [now, soon, later] = [behind(0), behind(1), behind(3)]
    assert.ok(now > soon && soon > later && later === 0, `${now}, ${soon} and ${later} turns`)
  })

  test('of one caller never runs more often at once than it may', () => {
    const order = openFairOrder<Work>(2, () => 0)
    for (let index = 0; index < 5; index += 1) order.add('a', { caller: 'a', ms: 1 })
    const out = [order.take(), order.take(), order.take()]
    assert.deepEqual(
      out.map((taken) => taken !== undefined),
      [true, true, false],
    )
    order.add('b', { caller: 'b', ms: 1 })
    const other = order.take()
    assert.equal(other?.work.caller, 'b')
    out[0]?.ended(1)
    assert.equal(order.take()?.work.caller, 'a')
    assert.equal(order.take(), undefined)
  })

  test('of an idle caller has no credit for unused time', () => {
    const order = openFairOrder<Work>(1, () => 0)
    order.add('idle', { caller: 'idle', ms: 1 })
    order.take()?.ended(1)
    for (let index = 0; index < 50; index += 1) order.add('busy', { caller: 'busy', ms: 10 })
    for (let index = 0; index < 40; index += 1) order.take()?.ended(10)
    for (let index = 0; index < 50; index += 1) order.add('idle', { caller: 'idle', ms: 10 })
    const next = Array.from({ length: 12 }, () => {
      const taken = order.take()
      taken?.ended(10)
      return taken?.work.caller
    })
    const busy = next.filter((caller) => caller === 'busy').length
    assert.ok(busy >= 5 && busy <= 7, `${busy} of 12 are of the busy one`)
  })

  test('of callers that come once each are remembered only until the grant has paid their time', () => {
    let nowMs = 0
    const order = openFairOrder<number>(1, () => nowMs)
    const begin = (index: number) => {
      order.add(`caller ${index}`, index)
      return order.take()
    }
    // One piece is always in progress, as with two places, so the busy period never ends.
    let before = begin(0)
    let most = 0
    for (let index = 1; index <= 50_000; index += 1) {
      const next = begin(index)
      nowMs += 5
      before?.ended(5)
      before = next
      most = Math.max(most, order.remembered())
    }
    assert.ok(most <= 20_000, `${most} callers are remembered`)
  })

  test('of a caller with a debt keeps it among many new callers', () => {
    let nowMs = 0
    const order = openFairOrder<string>(1, () => nowMs)
    const run = (caller: string, tookMs: number) => {
      order.add(caller, caller)
      nowMs += tookMs
      return order.take()
    }
    const always = run('always', 0)
    run('debtor', 3_000)?.ended(3_000)
    for (let index = 0; index < 25_000; index += 1) run(`caller ${index}`, 1)?.ended(1)
    order.add('debtor', 'debtor')
    order.add('waiting', 'waiting')
    assert.equal(order.take()?.work, 'waiting')
    always?.ended(0)
  })

  test('of 40,000 waiting callers costs the last ones no more than the first', () => {
    const order = openFairOrder<number>(1, () => 0)
    const from = process.cpuUsage()
    for (let index = 0; index < 40_000; index += 1) order.add(`caller ${index}`, index)
    const { user } = process.cpuUsage(from)
    assert.equal(order.remembered(), 40_000)
    assert.ok(user < 1_000_000, `${user / 1_000} ms of processor time`)
  })
})

/** Two places, and work that ends when the test says so. */
function openStage() {
  const places = openFairPlaces(2, () => performance.now())
  const begun: { name: string; end: PromiseWithResolvers<string> }[] = []
  const ask = (caller: string, name: string): Promise<string> =>
    places.run(caller, () => {
      const end = Promise.withResolvers<string>()
      begun.push({ name, end })
      return end.promise.then((value) => ({ value, tookMs: 1 }))
    })
  return { places, begun, ask }
}

suite('a place where answers are made', () => {
  test('is always left for other callers, however much one caller asks', async () => {
    const { places, begun, ask } = openStage()
    const mine = Array.from({ length: 100 }, (_, index) => ask('attacker', `${index}`))
    assert.deepEqual(
      begun.map(({ name }) => name),
      ['0'],
    )
    const stranger = ask('stranger', 'stranger')
    assert.equal(begun[1]?.name, 'stranger')
    begun[1]?.end.resolve('answered')
    assert.equal(await stranger, 'answered')
    for (let index = 0; begun.length < 101; index += 1) {
      begun.at(-1)?.end.resolve('done')
      begun[0]?.end.resolve('done')
      await setImmediate()
    }
    begun.at(-1)?.end.resolve('done')
    assert.equal((await Promise.all(mine)).length, 100)
    assert.equal(places.waiting(), 0)
  })

  test('is free again when its work fails, and only the caller of that work sees the error', async () => {
    const { begun, ask } = openStage()
    const failing = ask('a', 'failing')
    const next = ask('a', 'next')
    begun[0]?.end.reject(new Error('it failed'))
    await assert.rejects(failing, /it failed/)
    await setImmediate()
    begun[1]?.end.resolve('fine')
    assert.equal(await next, 'fine')
  })
})

/** Turns on a clock that only work moves. */
function openTurnsStage() {
  let nowMs = 0
  const turns = openFairTurns(() => nowMs)
  const done: string[] = []
  const ask = (caller: string, ms: number): void =>
    turns.run(caller, () => {
      nowMs += ms
      done.push(caller)
    })
  return { turns, done, ask }
}

suite('a turn on the serving loop', () => {
  test('comes at once when nobody waits', () => {
    const { done, ask } = openTurnsStage()
    ask('a', 1)
    ask('b', 1)
    assert.deepEqual(done, ['a', 'b'])
  })

  test('waits when the slice is used up, and sockets are read before it comes', async () => {
    const { turns, done, ask } = openTurnsStage()
    for (let index = 0; index < 10; index += 1) ask('a', SLICE_MS)
    assert.equal(done.length, 1)
    assert.equal(turns.waiting(), 9)
    let slices = 0
    while (turns.waiting() > 0) {
      await setImmediate()
      slices += 1
    }
    assert.equal(done.length, 10)
    assert.ok(slices >= 9, `${slices} slices`)
  })

  test('of a new caller comes within two slices, however much others have queued', async () => {
    const { done, ask } = openTurnsStage()
    for (let index = 0; index < 500; index += 1) ask(`attacker ${index % 3}`, 1)
    await setImmediate()
    const before = done.length
    ask('stranger', 1)
    while (!done.includes('stranger')) await setImmediate()
    const waited = done.indexOf('stranger') - before
    assert.ok(waited <= 2 * SLICE_MS, `behind ${waited} works of a millisecond`)
  })
})
