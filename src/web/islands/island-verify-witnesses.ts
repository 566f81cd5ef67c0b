import type { Witnesses } from '../../protocol/status-resources.ts'
import { type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { areWitnesses, majorityOf, witnessNames, WITNESSES_MAX } from '../../tlog/quorum.ts'
import { parseReceipt, RECEIPT_BYTES_MAX } from '../../tlog/receipt.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { parseVkey, type VerifierKey } from '../../tlog/vkey.ts'
import {
  judgeQuorum,
  UNWITNESSED_MS_MAX,
  type WitnessDemand,
  WITNESSED_PATH,
} from '../../verify/witnessed-note.ts'
import type { SharedSteps, WitnessFields } from './island-verify-fields.ts'
import {
  cosignaturesOf,
  inWords,
  momentWords,
  openStep,
  checkCosignatures,
  rightStep,
  stopped,
  wrongStep,
} from './island-verify-cosigners.ts'
import type { CheckSteps, Log, SignedCheckpoint } from './island-verify-log.ts'

// The checks of witnesses. A page loads them as a module of its own, so they import types alone from the other checks.

const NO_WITNESSES =
  'This log has no witnesses: only its operator says that every reader is shown the same events'
const NO_QUORUM = 'The log has no checkpoint for which a quorum of its witnesses vouches'

/**
 * Checks that a quorum of witnesses vouches for the log, for how much of it and since when, and that the log extends the
 * tree that they have cosigned. Without keys of the reader's own, the log's list of witnesses is used. `nowMs` is the local
 * clock.
 */
export async function* checkWitnesses(
  log: Log,
  fields: WitnessFields,
  nowMs: number,
  steps: SharedSteps,
): CheckSteps {
  const now = msOf(Math.min(nowMs, MS_MAX))
  const isOwn = fields.vkeys.length > 0
  const demand = isOwn ? yield* ownDemand(fields, steps) : yield* listedDemand(log, fields, steps)
  if (demand === undefined) return
  const text = await witnessedText(log, steps)
  if (text === null) {
    yield isOwn ? wrongStep(NO_QUORUM) : openStep(NO_QUORUM)
    return
  }
  const signed = yield* steps.signedCheckpoint(log, text)
  if (signed === undefined) return
  const witnessed = yield* checkCosignatures(log, text, signed, { keys: demand.keys, now }, steps)
  if (witnessed === undefined) return
  // Fetched last, so that it is not the older of the two.
  const newest = yield* steps.fetchNewestCheckpoint(log)
  if (newest === undefined) return
  if ((yield* steps.checkGrowth(log, signed, newest, 'the witnessed checkpoint')) === undefined) return
  const { size } = newest
  const { is, says } = judgeQuorum(witnessed, demand, { size, now, isService: true })
  const told = inWords(says, now)
  if (is !== 'right') {
    yield is === 'wrong' ? wrongStep(told) : openStep(told)
    return
  }
  const late = yield* lateEvent(log, signed.size, newest, now, steps)
  if (late === undefined) return
  if (late !== '') yield openStep(`${told}. ${late}`)
  else yield isOwn ? { ...rightStep(told), shared: sharedText(signed, demand) } : rightStep(told)
}

/**
 * Checks a proof that a reader has saved: the event is in its tree, its checkpoint is signed, which witnesses vouch for it,
 * and the log extends it.
 */
export async function* checkSavedProof(
  log: Log,
  file: Blob,
  fields: WitnessFields,
  nowMs: number,
  steps: SharedSteps,
): CheckSteps {
  const bytes = new Uint8Array(await file.slice(0, RECEIPT_BYTES_MAX + 1).arrayBuffer())
  const parsed = parseReceipt(bytes)
  if (!parsed.ok) return yield* stopped(DOUBTS[parsed.doubt])
  const { index, proof, checkpoint: text } = parsed.value
  const signed = yield* steps.signedCheckpoint(log, text, true)
  if (signed === undefined) return
  if ((yield* steps.provedEvent(log, signed, index + 1, proof)) === undefined) return
  if (fields.vkeys.length > 0) {
    const now = msOf(Math.min(nowMs, MS_MAX))
    const demand = yield* ownDemand(fields, steps)
    if (demand === undefined) return
    const witnessed = yield* checkCosignatures(log, text, signed, { keys: demand.keys, now }, steps)
    if (witnessed === undefined) return
    const { is, says } = judgeQuorum(witnessed, demand, { size: signed.size, now, isService: false })
    const told = inWords(says, now)
    // A proof without a quorum contradicts nothing.
    yield is === 'right' ? rightStep(told) : openStep(told)
  } else {
    const others = cosignaturesOf(text, signed.origin)
    if (others > 0)
      yield openStep(
        `The proof has ${others} ${others === 1 ? 'signature' : 'signatures'} of others than the log. Give the keys of witnesses above to check them`,
      )
  }
  const newest = yield* steps.fetchNewestCheckpoint(log)
  if (newest !== undefined) yield* steps.checkGrowth(log, signed, newest, 'this proof')
}

/** The witnesses whose keys the reader gave. */
async function* ownDemand({ vkeys, quorum }: WitnessFields, steps: SharedSteps): CheckSteps<WitnessDemand> {
  if (vkeys.length > WITNESSES_MAX) return yield* stopped(`Give at most ${WITNESSES_MAX} keys of witnesses`)
  const keys: VerifierKey[] = []
  for (const [index, vkey] of vkeys.entries()) {
    const key = parseVkey(steps.sha256Sync, vkey)
    if (key === undefined)
      return yield* stopped(`Key ${index + 1} of those that you gave is no key of a witness`)
    if (key.type === 'ed25519')
      return yield* stopped(`Key ${index + 1} of those that you gave is the key of a log, not of a witness`)
    keys.push(key)
  }
  if (!areWitnesses(keys)) return yield* stopped('Two of the keys that you gave are the same public key')
  return yield* demandOf(keys, quorum ?? majorityOf(keys))
}

/** The witnesses that the log itself lists. A list like that is no proof that they are others than its operator. */
async function* listedDemand(log: Log, fields: WitnessFields, steps: SharedSteps): CheckSteps<WitnessDemand> {
  const list: Witnesses = JSON.parse(await steps.servedText(log, 'log/witnesses'))
  if (list.quorum === null || list.witnesses.length === 0) {
    yield openStep(NO_WITNESSES)
    return undefined
  }
  const keys = list.witnesses.flatMap(({ vkey }) => parseVkey(steps.sha256Sync, vkey) ?? [])
  if (keys.length < list.witnesses.length || keys.length > WITNESSES_MAX || !areWitnesses(keys))
    return yield* stopped('The list of witnesses has an entry that is no witness key')
  const demand = yield* demandOf(keys, fields.quorum ?? list.quorum)
  if (demand !== undefined)
    yield openStep(
      'The log itself lists these witnesses. They may all be its operator: give keys that you have from somewhere else',
    )
  return demand
}

async function* demandOf(keys: readonly VerifierKey[], quorum: number): CheckSteps<WitnessDemand> {
  const names = witnessNames(keys).length
  const isQuorum = Number.isSafeInteger(quorum) && quorum >= 1 && quorum <= names
  if (!isQuorum)
    return yield* stopped(`The number that must vouch is from 1 to ${names}, the number of witnesses`)
  return { keys, quorum }
}

/** The witnessed checkpoint; null when the log has none. */
async function witnessedText(log: Log, { servedText, NotServed }: SharedSteps): Promise<string | null> {
  try {
    return await servedText(log, WITNESSED_PATH, NO_QUORUM)
  } catch (error) {
    if (error instanceof NotServed && error.message === NO_QUORUM) return null
    throw error
  }
}

/**
 * Sentence about an event of more than 24 hours ago for which nobody vouches yet; empty when there is none. Undefined when
 * the event is not in the tree.
 */
async function* lateEvent(
  log: Log,
  witnessed: number,
  newest: SignedCheckpoint,
  now: Ms,
  { provedEvent }: SharedSteps,
): CheckSteps<string> {
  if (newest.size <= witnessed) return ''
  const proving = provedEvent(log, newest, witnessed + 1)
  let step = await proving.next()
  for (; step.done !== true; step = await proving.next()) if (step.value.is !== 'right') yield step.value
  if (step.value === undefined) return undefined
  const { atMs } = step.value
  return now - atMs > UNWITNESSED_MS_MAX
    ? `Nobody vouches for event ${witnessed + 1} of ${momentWords(msOf(atMs))} yet`
    : ''
}

/** Limit that is left when a quorum of the reader's own witnesses vouches for a log. */
function sharedText({ size, origin }: SignedCheckpoint, { keys, quorum }: WitnessDemand): string {
  const all = witnessNames(keys).length
  // Two quorums of Q out of N witnesses have 2Q − N witnesses in common.
  const liars = 2 * quorum - all
  if (liars < 1) return ''
  return `That your witnesses are honest. At least ${liars} of the ${all} must lie before other readers who ask the same witnesses can be shown other events up to event ${size} of ${origin}. For later events, check again.`
}
