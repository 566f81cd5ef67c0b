import { join } from 'node:path'
import type { Companion } from '../../torture/history/cluster.ts'
import { openBackupCompany } from '../../torture/together/backup-company.ts'
import { openOutboxCompany } from '../../torture/together/outbox-company.ts'
import { openWitnessCompany } from '../../torture/together/witness-company.ts'
import { ORIGIN } from './first-log.ts'
import type { CompanySettings } from './table-cluster.ts'

const FAST_FEED = join(import.meta.dirname, '..', '..', 'torture', 'together', 'fast-feed.ts')

/** Everything that a platform has beside the nodes: an outbox, witnesses, backups, and a chain with a liar. */
export const WHOLE_COMPANY: CompanySettings = {
  chainServers: 'several',
  async open({ folder, seed, keyFile, token, chainFaults }) {
    await using opening = new AsyncDisposableStack()
    const witnesses = opening.use(await openWitnessCompany({ folder, keyFile, origin: ORIGIN }))
    const outbox = opening.use(await openOutboxCompany({ seed, token }))
    const backups = opening.use(openBackupCompany({ folder: join(folder, 'backups'), seed, keyFile }))
    const open = opening.move()
    return {
      companions: [witnesses, outbox, backups, chainCompany(chainFaults)],
      words: witnesses.words,
      imports: [FAST_FEED],
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
