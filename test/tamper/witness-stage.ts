import assert from 'node:assert/strict'
import type { Entry } from '../../src/protocol/event.ts'
import { floorTo, MINUTE_MS, type Ms, msOf, SECOND_MS } from '../../src/protocol/moment.ts'
import type { Audit, AuditSettings } from '../../src/verify/audit.ts'
import {
  type Change,
  checkpointOver,
  type LogKey,
  newKey,
  type PublicLog,
  publicLog,
} from '../story/public-log.ts'
import { type WitnessKey, witnessKey } from '../story/witness-keys.ts'
import { auditOf, RICH_LOG } from '../stage/audit-stage.ts'
import type { WitnessAnswer, ChosenWitnesses } from '../../src/verify/witnesses.ts'

/** Key of the log that the witnesses of these tests know. */
export const key: LogKey = newKey()
export const size: number = RICH_LOG.length
export const log: PublicLog = publicLog(RICH_LOG, key)
export const one: WitnessKey = witnessKey('one')
export const two: WitnessKey = witnessKey('two')
export const three: WitnessKey = witnessKey('three', 'ml-dsa-44')
export const ALL: readonly WitnessKey[] = [one, two, three]
/** Time of most cosignatures: a minute ago, in whole seconds. */
export const AT: Ms = floorTo(msOf(log.now - MINUTE_MS), SECOND_MS)
/** The same log with another event before the last. */
export const otherTail: readonly Entry[] = RICH_LOG.map((entry, index) =>
  index === size - 2 ? { ...entry, event: { ...entry.event, tx: 'another' } } : entry,
)
/** Signed checkpoint over the first `covers` events. */
export const noteAt = (covers: number, entries: readonly Entry[] = RICH_LOG): string =>
  checkpointOver(entries, covers, key)

/** Serves a note as the witnessed checkpoint. */
export const witnessedAs =
  (note: string | undefined): Change =>
  (path, body) =>
    path === 'log/checkpoint.witnessed' ? (note === undefined ? note : Buffer.from(note)) : body

/** Witnesses of a reader: three with a quorum of two, unless it says otherwise. */
type Choice = Readonly<{
  keys?: readonly WitnessKey[]
  quorum?: number
  /** Answers of the witnesses by name, with the addresses `http://<name>`. */
  answers?: Readonly<Record<string, WitnessAnswer | string>>
  addresses?: string[]
}>

export function questions({ keys = ALL, quorum = 2, answers = {}, addresses = [] }: Choice): ChosenWitnesses {
  return {
    keys: keys.map((witness) => witness.key),
    quorum,
    asked: Object.keys(answers).map((name) => ({
      url: `http://${name}`,
      keys: keys.flatMap((witness) => (witness.key.name.endsWith(`/${name}`) ? witness.key : [])),
    })),
    async ask(address) {
      addresses.push(address)
      const answer = answers[new URL(address).host] ?? assert.fail(address)
      return typeof answer === 'string' ? { is: 'note', body: Buffer.from(answer) } : answer
    },
  }
}

/** Audits the log with a witnessed checkpoint and chosen witnesses. */
export function auditWith(
  note: string | undefined,
  choice: Choice = {},
  more: Partial<AuditSettings> = {},
): Promise<Audit> {
  return auditOf(log, witnessedAs(note), { witnesses: questions(choice), ...more })
}
