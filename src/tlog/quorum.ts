import { cosignedMessage, parseCosignature } from './cosignature.ts'
import { isSame } from './hash.ts'
import type { Note, VerifierKey, Verify } from './note.ts'
import { doubted, proved, type Verdict } from './verdict.ts'

/** Most witness keys that a log or a reader chooses. */
export const WITNESSES_MAX = 16

/** Longest time by which a witness's clock may be ahead of the local one. */
export const AHEAD_SECONDS_MAX = 600

/** Signatures of witnesses that a runtime can verify. `verifyMlDsa44` is null where the runtime has no ML-DSA-44. */
export type WitnessVerification = Readonly<{ verifyEd25519: Verify; verifyMlDsa44: Verify | null }>

/** Witness that vouches for a checkpoint, and the time of its newest cosignature in whole seconds since 1970. */
export type Voucher = Readonly<{ name: string; timeSeconds: number }>

/** Known witnesses on a note: those that vouch for it, and those whose signatures this runtime cannot verify. */
type Vouching = Readonly<{ vouchers: readonly Voucher[]; unverified: readonly string[] }>

/**
 * Known witnesses that have cosigned a checkpoint. A witness is a key name: several keys of one name count once. Signatures
 * by unknown keys are ignored. The note is refused when a signature by a known key is invalid (C2SP signed-note).
 */
export async function openVouching(
  { text, signatures }: Note,
  witnesses: readonly VerifierKey[],
  verification: WitnessVerification,
): Promise<Verdict<Vouching>> {
  const times = new Map<string, number>()
  const unverified = new Set<string>()
  for (const line of signatures) {
    for (const key of witnesses) {
      if (key.name !== line.name || key.keyId !== line.keyId) continue
      const time = await timeOf(key, text, line.signature, verification)
      if (time === null) return doubted('bad-signature')
      if (time === 'unverified') unverified.add(key.name)
      else times.set(key.name, Math.max(time, times.get(key.name) ?? 0))
    }
  }
  const vouchers = Array.from(times, ([name, timeSeconds]) => ({ name, timeSeconds }))
  return proved({ vouchers, unverified: [...unverified].filter((name) => !times.has(name)) })
}

/** Time of a valid cosignature; null for an invalid one. */
async function timeOf(
  key: VerifierKey,
  text: string,
  bytes: Uint8Array,
  { verifyEd25519, verifyMlDsa44 }: WitnessVerification,
): Promise<number | 'unverified' | null> {
  if (key.type === 'ed25519') return null
  const cosignature = parseCosignature(key.type, bytes)
  if (cosignature === undefined) return null
  const message = cosignedMessage(key, cosignature.timeSeconds, text)
  const verify = key.type === 'ed25519-cosignature' ? verifyEd25519 : verifyMlDsa44
  if (verify === null) return 'unverified'
  const holds = message !== undefined && (await verify(key.publicKey, message, cosignature.signature))
  return holds ? cosignature.timeSeconds : null
}

/**
 * Time as of which a quorum vouches, in whole seconds since 1970: the latest at which `quorum` witnesses have a
 * cosignature as new or newer. Undefined with fewer witnesses. A quorum is at least 1.
 */
export function quorumTime(vouchers: readonly Voucher[], quorum: number): number | undefined {
  return vouchers.map(({ timeSeconds }) => timeSeconds).toSorted((a, b) => b - a)[quorum - 1]
}

/** Names of the witnesses in a list of keys, each once. */
export function witnessNames(keys: readonly VerifierKey[]): readonly string[] {
  return [...new Set(keys.map(({ name }) => name))]
}

/** Default quorum of a list of witnesses: more than half of their names. */
export function majorityOf(witnesses: readonly VerifierKey[]): number {
  return Math.floor(witnessNames(witnesses).length / 2) + 1
}

/** Whether all keys of a list are witness keys with different public keys (C2SP tlog-policy). */
export function areWitnesses(keys: readonly VerifierKey[]): boolean {
  return keys.every(
    ({ type, publicKey }, index) =>
      type !== 'ed25519' && keys.findIndex((other) => isSame(other.publicKey, publicKey)) === index,
  )
}
