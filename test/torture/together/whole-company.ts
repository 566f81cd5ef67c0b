import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomOf } from '../../../sim/random.ts'
import type { ClusterFault, Companion } from '../../cluster/cluster.ts'
import type { CompanySettings } from '../../cluster/engine-cluster.ts'
import { openBackupCompany } from './backup-company.ts'
import { openOutboxCompany } from './outbox-company.ts'
import { openWitnessCompany } from './witness-company.ts'

/** Name of the log of a cluster (`makeFirstMessage`). */
const ORIGIN = 'daybook.test/cluster'
const FAST_FEED = join(import.meta.dirname, 'fast-feed.ts')
const STEPPED_CLOCK = join(import.meta.dirname, 'stepped-clock.ts')
/** Steps of the clock of a node, in milliseconds. */
const STEPS_MS = [-86_400_000, -3_600_000, -5_000, -700, 700, 3_000] as const

/** Everything that a platform has beside the nodes: an outbox, witnesses, backups, a chain with a liar, wrong clocks. */
export const WHOLE_COMPANY: CompanySettings = {
  chainServers: 'several',
  async open({ folder, seed, keyFile, token, chainFaults }) {
    await using opening = new AsyncDisposableStack()
    const witnesses = opening.use(await openWitnessCompany({ folder, keyFile, origin: ORIGIN }))
    const outbox = opening.use(await openOutboxCompany({ seed, token }))
    const backups = opening.use(openBackupCompany({ folder: join(folder, 'backups'), seed, keyFile }))
    const random = randomOf(`${seed} clocks`)
    const open = opening.move()
    return {
      companions: [witnesses, outbox, backups, chainCompany(chainFaults)],
      words: witnesses.words,
      imports: [FAST_FEED, STEPPED_CLOCK],
      openWriter(name) {
        const path = join(folder, `clock-of-${name}`)
        writeFileSync(path, '0')
        const fault: ClusterFault = {
          name: `step the clock of ${name}`,
          // A node that starts with a wrong clock would not believe the right one.
          place: name,
          async fire() {
            writeFileSync(path, String(random.pick(STEPS_MS)))
            return { heal: async () => writeFileSync(path, '0') }
          },
        }
        return { faults: [fault], env: { STEPPED_CLOCK: path } }
      },
      [Symbol.asyncDispose]: () => open.disposeAsync(),
    }
  },
}

/** Counts the faults of the servers of the chain, which change by themselves. */
function chainCompany(chainFaults: () => number): Companion {
  const nothing = async (): Promise<void> => undefined
  return {
    faults: [],
    verifyWords: [],
    begin: () => undefined,
    look: nothing,
    pause: nothing,
    settled: nothing,
    resume: () => undefined,
    end: async () => ({ history: {}, faults: [], counts: { chainFaults: chainFaults() } }),
  }
}
