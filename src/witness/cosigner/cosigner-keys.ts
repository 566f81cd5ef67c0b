import { sign } from 'node:crypto'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import { NODE_SIGNATURES } from '../../log/tree/signer.ts'
import { cosignText } from '../../tlog/cosignature.ts'
import { formatNote, type Note, type NoteSignature } from '../../tlog/note.ts'
import { openVouching } from '../../tlog/quorum.ts'

/** Keys of one witness: one of each type. */
export const COSIGNER_KEYS_MAX = 2
/**
 * Most signature lines by one of the witness's keys that are verified on a submitted checkpoint. Further ones are
 * ignored.
 */
export const OWN_LINES_MAX = 4

/** Cosignature lines of each key at a time in whole seconds, with line feeds. */
export function cosignatureLines(keys: readonly CosignerKey[], time: number, text: string): string {
  return linesOf(
    text,
    keys.map(({ verifier, privateKey }) =>
      cosignText(verifier, (message) => sign(null, message, privateKey), time, text),
    ),
  )
}

/** Signature lines in the form of a note with this text. */
export function linesOf(text: string, signatures: readonly NoteSignature[]): string {
  return formatNote({ text, signatures }).slice(text.length + 1)
}

/** Valid cosignatures of these keys on a note, and the newest of their times in whole seconds. */
export type OwnCosignatures = Readonly<{ signatures: readonly NoteSignature[]; time: number }>

/** Cosignatures of our own keys on a note; undefined without one. Others are ignored. */
export async function ownCosignatures(
  { text, signatures }: Note,
  keys: readonly CosignerKey[],
): Promise<OwnCosignatures | undefined> {
  const own: NoteSignature[] = []
  const times: number[] = []
  for (const { verifier } of keys) {
    let newest = 0
    const lines = signatures.filter(({ name, keyId }) => name === verifier.name && keyId === verifier.keyId)
    for (const line of lines.slice(0, OWN_LINES_MAX)) {
      // Each line is opened alone, so that a false line does not hide a true one.
      const opened = await openVouching({ text, signatures: [line] }, [verifier], NODE_SIGNATURES)
      const [voucher] = opened.ok ? opened.value.vouchers : []
      if (voucher === undefined || voucher.timeSeconds <= newest) continue
      newest = voucher.timeSeconds
      times.push(newest)
      own.push(line)
    }
  }
  return own.length === 0 ? undefined : { signatures: own, time: Math.max(...times) }
}
