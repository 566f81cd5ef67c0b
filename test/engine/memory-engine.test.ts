import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { openVirtualClock } from '../stage/virtual-clock.ts'
import type { EngineRig } from './conformance.ts'
import { testConformance } from './conformance.ts'
import type { EngineFaults } from './engine-faults.ts'
import { MANY_FAULTS, NO_FAULTS } from './engine-faults.ts'
import type { MemoryConnection } from './memory-engine.ts'
import { openMemoryEngine } from './memory-engine.ts'
import { randomOf } from '../../sim/random.ts'

/** A rig of the engine in memory, whose disturbance is a number of faults and a cut connection. */
async function openMemoryRig(faults: EngineFaults): Promise<EngineRig> {
  const clock = openVirtualClock()
  const random = randomOf('17').next
  let engine = openMemoryEngine({ clock, random })
  let connections: readonly MemoryConnection[] = []
  return {
    async open(count) {
      engine = openMemoryEngine({ clock, random })
      engine.setFaults(faults)
      connections = Array.from({ length: count }, () => engine.connect())
      return connections
    },
    again: async (): Promise<EngineConnection> => engine.connect(),
    async kill() {
      engine.setFaults(MANY_FAULTS)
      connections[1]?.cut()
    },
    async heal() {
      engine.setFaults(faults)
      connections[1]?.heal()
    },
    now: clock.now,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

testConformance('the memory', () => openMemoryRig({ ...NO_FAULTS, delayMs: 4 }))
testConformance('the lagging memory', () =>
  openMemoryRig({ ...NO_FAULTS, lagMs: 200, lostTold: 0.3, delayMs: 10 }),
)

suite('the engine in memory', () => {
  test('does the same for the same seed', async () => {
    const runs = [5, 5, 6].map(async (seed) => {
      const clock = openVirtualClock()
      const engine = openMemoryEngine({ clock, random: randomOf(String(seed)).next })
      engine.setFaults(MANY_FAULTS)
      const { log } = engine.connect()
      const answers: string[] = []
      for (let place = 1; place < 60; place += 1) answers.push(await log.append(place, new Uint8Array(1)))
      return answers.join(' ')
    })
    const [first, same, other] = await Promise.all(runs)
    assert.equal(first, same)
    assert.notEqual(first, other)
    assert.match(first ?? '', /unknown/)
  })

  test('loses its tail, and says so', async () => {
    const clock = openVirtualClock()
    const engine = openMemoryEngine({ clock, random: randomOf('1').next })
    await using connection = engine.connect()
    const changes: string[] = []
    connection.onChange((what) => void changes.push(what))
    for (let place = 1; place <= 5; place += 1) await connection.log.append(place, new Uint8Array(place))
    assert.deepEqual(
      engine.loseTail(2, true).map(({ place }) => place),
      [4, 5],
    )
    assert.equal(await connection.log.last(), 3)
    assert.equal(await connection.log.append(4, new Uint8Array(9)), 'appended')
    assert.deepEqual(changes, ['the engine has another timeline'])
  })
})
