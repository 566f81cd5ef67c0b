import { after } from 'node:test'
import { skipUnless } from '../stage/test-needs.ts'
import { hasPostgres } from '../outbox/postgres-server.ts'
import type { EngineRig } from './conformance.ts'
import { testConformance } from './conformance.ts'
import { testPostgresFaults } from './postgres-fault-cases.ts'
import { testPostgresGuards } from './postgres-guard-cases.ts'
import type { PostgresRig } from './postgres-rig.ts'
import { openPostgresRig } from './postgres-rig.ts'
import { testPostgresSetup } from './postgres-setup-cases.ts'
import { testPostgresTransport } from './postgres-transport-cases.ts'

/** The suites of this file share two servers, and run one after the other. */
let opened: Promise<PostgresRig> | undefined
const openShared = (): Promise<PostgresRig> => (opened ??= openPostgresRig())
after(async () => (await opened)?.[Symbol.asyncDispose]())

const skip = skipUnless(hasPostgres, 'postgresql')

/** Disturbs the servers in another way each time: the standby is lost, the primary crashes, the standby takes over. */
async function openConformanceRig(): Promise<EngineRig> {
  const rig = await openShared()
  let round = 0
  return {
    async open(count) {
      await rig.makeStream()
      return Array.from({ length: count }, () => rig.connect())
    },
    again: async () => rig.connect(),
    async kill() {
      round += 1
      if (round === 1) await rig.standby().end('SIGKILL')
      if (round === 2) await rig.primary().end('SIGKILL')
      if (round === 3) await rig.failOver()
    },
    async heal() {
      if (round === 1) await rig.standby().start()
      if (round === 2) await rig.primary().start()
      if (round === 3) await rig.rebuildStandby()
      await rig.untilSynchronous()
    },
    now: () => performance.now(),
    disturbedMs: 400,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

testConformance('PostgreSQL', openConformanceRig, skip)
testPostgresFaults(openShared, skip)
testPostgresGuards(openShared, skip)
testPostgresTransport(openShared, skip)
testPostgresSetup(openShared, skip)
