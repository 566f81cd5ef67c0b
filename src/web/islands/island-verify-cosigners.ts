import { formatAt, type Ms, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { type Note, parseNote } from '../../tlog/note.ts'
import { AHEAD_SECONDS_MAX, openVouching, witnessNames, type WitnessVerification } from '../../tlog/quorum.ts'
import type { Verify } from '../../tlog/signature.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import type { VerifierKey } from '../../tlog/vkey.ts'
import type { WitnessedNote } from '../../verify/witnessed-note.ts'
import type { SharedSteps } from './island-verify-fields.ts'
import type { CheckStep, CheckSteps, Log, SignedCheckpoint } from './island-verify-log.ts'

// Cosignatures on a note, as the checks of witnesses show them.

export const rightStep = (message: string): CheckStep => ({ is: 'right', message })
export const wrongStep = (message: string): CheckStep => ({ is: 'wrong', message })
export const openStep = (message: string): CheckStep => ({ is: 'unchecked', message })

/** Yields a failed step and ends the check. */
export async function* stopped(message: string): CheckSteps<never> {
  yield wrongStep(message)
  yield openStep('The remaining steps were not checked')
  return undefined
}

/** Checks the cosignature of each witness on a note that the log has signed. Undefined when one is forged. */
export async function* checkCosignatures(
  log: Log,
  text: string,
  signed: SignedCheckpoint,
  { keys, now }: Readonly<{ keys: readonly VerifierKey[]; now: Ms }>,
  { openEd25519 }: SharedSteps,
): CheckSteps<WitnessedNote> {
  const verifyEd25519 = await openEd25519(log)
  const bytes = formatUtf8(text)
  const note = parseNote(bytes)
  if (!note.ok) return yield* stopped(DOUBTS[note.doubt])
  if (verifyEd25519 === undefined || signed.keys.length === 0) {
    yield openStep('No cosignature is checked either')
    return undefined
  }
  const verification: WitnessVerification = { verifyEd25519, verifyMlDsa44: await openMlDsa44() }
  const found: Vouching[] = []
  for (const name of witnessNames(keys)) {
    const own = keys.filter((key) => key.name === name)
    const vouching = yield* vouchingOf(name, note.value, { keys: own, now }, verification)
    if (vouching === undefined) return undefined
    found.push(vouching)
  }
  return {
    checkpoint: signed,
    note: bytes,
    vouchers: found.flatMap(({ vouchers }) => vouchers),
    unverified: found.flatMap(({ unverified }) => unverified),
  }
}

type Vouching = Extract<Awaited<ReturnType<typeof openVouching>>, { ok: true }>['value']

async function* vouchingOf(
  name: string,
  note: Note,
  { keys, now }: Readonly<{ keys: readonly VerifierKey[]; now: Ms }>,
  verification: WitnessVerification,
): CheckSteps<Vouching> {
  const opened = await openVouching(note, keys, verification)
  if (!opened.ok) return yield* stopped(`The signature of the witness ${name} is forged`)
  const { vouchers, unverified } = opened.value
  const [voucher] = vouchers
  const ms = (voucher?.timeSeconds ?? 0) * SECOND_MS
  if (voucher !== undefined && ms > now + AHEAD_SECONDS_MAX * SECOND_MS)
    yield openStep(`The witness ${name} has signed it at a time in the future, so it does not count`)
  else if (voucher !== undefined)
    yield rightStep(`The witness ${name} has signed it, ${momentWords(msOf(ms))}`)
  else if (unverified.length > 0)
    yield openStep(
      `The signature of the witness ${name} is not checked by this browser, which has no ML-DSA-44 here`,
    )
  else yield openStep(`The witness ${name} has not signed it`)
  return opened.value
}

/** `2026-11-23 15:40:11 UTC`. */
export function momentWords(at: Ms): string {
  return `${formatAt(at).slice(0, 19).replace('T', ' ')} UTC`
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** A sentence about a quorum with its time in words, and its age by the local clock. */
export function inWords(says: string, now: Ms): string {
  return says.replace(/as of (\S+Z)/, (_, at: string) => {
    const ms = msOf(Date.parse(at))
    return `as of ${momentWords(ms)}${ageOf(ms, now)}`
  })
}

/** Age in words, after a comma; empty for a time ahead of the clock. */
function ageOf(asOf: Ms, now: Ms): string {
  const seconds = Math.floor((now - asOf) / SECOND_MS)
  const [unit, length] = UNITS.find(([, least]) => seconds >= least) ?? []
  if (unit === undefined || length === undefined) return ''
  return `, ${new Intl.RelativeTimeFormat('en').format(-Math.floor(seconds / length), unit)}`
}

/** Signature lines of a note by other names than the log's. */
export function cosignaturesOf(text: string, origin: string): number {
  const note = parseNote(formatUtf8(text))
  return note.ok ? note.value.signatures.filter(({ name }) => name !== origin).length : 0
}

/** Bytes before an ML-DSA-44 key in SubjectPublicKeyInfo (RFC 9881). */
const SPKI_ML_DSA_44 = [
  0x30, 0x82, 0x05, 0x32, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x11, 0x03,
  0x82, 0x05, 0x21, 0x00,
]

/** ML-DSA-44 of the browser; null without it, and on a page without https. */
async function openMlDsa44(): Promise<Verify | null> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  const keyOf = (bytes: Iterable<number>): Promise<CryptoKey> =>
    subtle.importKey('spki', Uint8Array.from([...SPKI_ML_DSA_44, ...bytes]), 'ML-DSA-44', false, ['verify'])
  try {
    // Every 1,312 bytes are a key, so the import fails only without support.
    await keyOf(new Uint8Array(1_312))
  } catch {
    return null
  }
  return async (key, message, signature) =>
    subtle.verify('ML-DSA-44', await keyOf(key), new Uint8Array(signature), new Uint8Array(message))
}
