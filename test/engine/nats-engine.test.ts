import type { EngineConnection } from '../../src/engine/log-engine.ts'
import type { EngineRig } from './conformance.ts'
import { testConformance } from './conformance.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { NATS_NEEDED, NATS_SERVER } from './nats-program.ts'
import { startNatsRig } from './nats-rig.ts'

/** Three real brokers. The disturbance kills the leader; `nats-faults.test.ts` also pauses it and cuts it off. */
async function openNatsEngineRig(): Promise<EngineRig> {
  const rig = await startNatsRig()
  let stream = 0
  let heal = (): void => undefined
  return {
    async open(count) {
      stream += 1
      await rig.make(stream)
      return Promise.all(
        Array.from({ length: count }, (_, at) => rig.open(stream, rig.brokers.slice(at % 3, (at % 3) + 1))),
      )
    },
    again: (): Promise<EngineConnection> => rig.open(stream),
    async kill() {
      const { leader } = await rig.leaderOf(stream)
      await leader.kill()
      heal = () => leader.start()
    },
    async heal() {
      heal()
    },
    disturbances: 1,
    now: () => performance.now(),
    // A lost leader costs ten seconds at most, and the suite waits 20 times as long as this.
    disturbedMs: 700,
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  }
}

testConformance('NATS', openNatsEngineRig, skipUnless(NATS_SERVER !== undefined, NATS_NEEDED))
