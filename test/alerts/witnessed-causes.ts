import { askedWitnesses } from '../../src/witness/command/serve-witnessed.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { TEST_KEY } from '../story/signing.ts'
import { type ScriptedWitness, startScriptedWitness } from '../witness/scripted-witness.ts'
import type { Cause } from './rule-test.ts'
import { type Scrape, scrape } from './scrape.ts'

const NEW_LOG = { origin: 'daybook.test/witnessed', chain: 'opaque', simulated: false } as const
const WITNESS = 'witness.example/w1'
const PACE = { roundMs: 20, idleMs: 20 }
const WAIT_MS_MAX = 30_000

/** Causes that a log with a witness meets: the witness is away, or contradicts the log. */
export async function witnessedCauses(data: string): Promise<readonly Cause[]> {
  const clock = openSharedClock()
  clock.set(msOf(Date.now()))
  await using witness = await startScriptedWitness(WITNESS)
  const witnesses = { witnesses: [{ key: witness.key, url: witness.url }], quorum: 1 }
  const settings = { cosigners: askedWitnesses(witnesses, PACE) }
  await using service = await startLocalNode(data, NEW_LOG, [TEST_KEY], clock, { settings })
  const publishUrl = `http://127.0.0.1:${service.publishPort}`
  const behaving = async (behaviour: ScriptedWitness['behaviour'], wanted: RegExp): Promise<Scrape> => {
    witness.behaviour = behaviour
    return await scrapeUntil(publishUrl, wanted)
  }

  const away = () => ({ status: 503, body: '' })
  const empty = await behaving(away, /\ndaybook_witnessed_timestamp_seconds 0\n/)
  await (await postDrafts(service, [{ ref: 'a', type: 'trade', kind: 'buy', kots: '1' }])).text()
  const old = await behaving(away, refused('failed'))
  const healthy = await behaving('honest', /\ndaybook_witnessed_timestamp_seconds [1-9]/)
  const disagrees = await behaving(() => ({ status: 422, body: '' }), refused('disagrees'))
  const ahead = await behaving(() => ({ status: 409, body: '999999\n' }), refused('ahead'))
  witness.size = 0
  const wentBack = await behaving('honest', refused('went-back'))
  const page = { alert: 'WitnessDisagrees', healthy, severity: 'page' } as const
  return [
    { alert: 'WitnessedOld', by: 'a witness that is away', healthy, ailing: [old], severity: 'ticket' },
    { alert: 'WitnessedOld', by: 'an empty log', healthy, ailing: [empty], isNone: true },
    { ...page, by: 'a witness that refuses to cosign the log', ailing: [disagrees] },
    { ...page, by: 'a witness that has seen more of the log', ailing: [ahead] },
    { ...page, by: 'a witness that has forgotten the log', ailing: [wentBack] },
    { ...page, by: 'a witness that is away', healthy: empty, ailing: [old], isNone: true },
  ]
}

/** Metrics in which the witness has refused for a reason. */
function refused(reason: string): RegExp {
  return new RegExp(`\\ndaybook_witness_refusals_total\\{witness="${WITNESS}",reason="${reason}"\\} [1-9]`)
}

/** Scrapes a service once its metrics are as wanted. */
async function scrapeUntil(publishUrl: string, wanted: RegExp): Promise<Scrape> {
  const lateMs = performance.now() + WAIT_MS_MAX
  while (!wanted.test(await (await fetch(`${publishUrl}/metrics`)).text())) {
    if (performance.now() > lateMs) throw new Error(`the metrics never match ${String(wanted)}`)
    await sleep(50)
  }
  return await scrape(publishUrl)
}
