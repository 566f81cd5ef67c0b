import { formatUtf8, formatVkey, openNote, parseNote, type VerifierKey, type Verify } from './note.ts'

/** A key in a log's list of keys. */
export type ChainKey = Readonly<{
  key: VerifierKey
  /** First tree size that the key signs. */
  fromSize: number
  /** A signed note in which an older key vouches for this key; null for a first key. */
  statement: string | null
}>

/** Text of the statement with which an older key vouches for a new one: origin, tree size and vkey, a line each. */
export function rotationText(key: VerifierKey, fromSize: number): string {
  return `daybook key rotation v1\n${key.name}\n${fromSize}\n${formatVkey(key)}\n`
}

/**
 * Returns the listed keys for which a trusted key vouches, directly or through other listed keys. A key vouches only
 * for keys of its own name, and never for itself. The list may be in any order.
 */
export async function verifyKeyChain<Listed extends ChainKey>(
  trusted: readonly VerifierKey[],
  listed: readonly Listed[],
  verify: Verify,
): Promise<readonly Listed[]> {
  const found = new Set<Listed>()
  let sizeBefore = -1
  while (found.size > sizeBefore) {
    sizeBefore = found.size
    for (const candidate of listed) {
      if (found.has(candidate)) continue
      const vouchers = [...trusted, ...Array.from(found, ({ key }) => key)]
      if (await isVouchedFor(candidate, vouchers, verify)) found.add(candidate)
    }
  }
  return [...found]
}

async function isVouchedFor(
  { key, fromSize, statement }: ChainKey,
  vouchers: readonly VerifierKey[],
  verify: Verify,
): Promise<boolean> {
  if (statement === null) return false
  const note = parseNote(formatUtf8(statement))
  if (!note.ok || note.value.text !== rotationText(key, fromSize)) return false
  // A witness signs trees, and does not decide on the log's keys.
  const older = vouchers.filter(
    ({ name, keyId, type }) => name === key.name && keyId !== key.keyId && type === 'ed25519',
  )
  return (await openNote(note.value, older, verify)).ok
}
