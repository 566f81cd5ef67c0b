import { readCheckpoint } from '../../tlog/checkpoint.ts'
import type { Tree } from '../../tlog/consistency.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import type { VerifierKey } from '../../tlog/vkey.ts'
import { formatVkey, parseVkey } from '../../tlog/vkey.ts'
import type { Log, CheckSteps } from './island-verify-log.ts'
import { keysFrom, no, right, servedText, hashNow, signedCheckpoint, unchecked } from './island-verify-log.ts'
import { grown } from './island-verify-tree.ts'

/** Where a browser keeps what it saw, by an address and by a log's origin. */
export type Visits = Readonly<{
  get(name: string): string
  /** Whether it is kept. */
  keep(name: string, text: string): boolean
}>

/** What was seen at an earlier visit: a tree, the log that had it, and the keys that had signed it. */
type Seen = Tree & Readonly<{ origin: string; date: string; keys: readonly VerifierKey[] }>

/**
 * Whether the log of now grew out of the one that this browser saw before, here or under the same name; it is kept
 * for the next visit. What nobody could check the signature of is neither kept nor compared.
 */
export async function* checkVisit(log: Log, address: string, visits: Visits, date: string): CheckSteps {
  const note = await servedText(log, 'log/checkpoint')
  const now = yield* signedCheckpoint(log, note)
  if (now === undefined) return
  if (now.keys.length === 0) {
    yield unchecked('What is not signed is not kept, and not held against what this browser saw before')
    return
  }
  const names = [address, now.origin]
  const seen = names.map((name) => seenIn(visits.get(name))).filter((visit) => visit !== undefined)
  const signs = (key: VerifierKey): boolean => now.keys.includes(formatVkey(key))
  for (const { origin, keys, date: then } of seen) {
    const isSame = origin === now.origin
    if (isSame && (keys.some(signs) || (await keysFrom(log, keys)).some(signs))) continue
    const whose = keys.map(formatVkey).join(', ')
    return yield* no(
      `This is another log than the one of ${then}, ${origin}, which was signed by ${whose}: ask its operator before you believe what is shown now`,
    )
  }
  const before = seen.at(-1)
  if (before === undefined) yield unchecked('This browser has kept no checkpoint of this log before')
  else if ((yield* grown(log, before, now, `your visit on ${before.date}`)) === undefined) return
  const text = `${date} ${now.keys.join(' ')}\n${note}`
  yield names.every((name) => visits.keep(name, text))
    ? right(`The checkpoint of ${now.size} events is kept in this browser for your next visit`)
    : unchecked('This browser keeps nothing, so that your next visit has nothing to compare')
}

/** A visit as it was kept: its date and keys in a line, then the signed note. Undefined for anything else. */
function seenIn(text: string): Seen | undefined {
  const end = text.indexOf('\n')
  const [date = '', ...vkeys] = text.slice(0, Math.max(0, end)).split(' ')
  const keys = vkeys.flatMap((vkey) => parseVkey(hashNow, vkey) ?? [])
  const read = readCheckpoint(formatUtf8(text.slice(end + 1)))
  return read.ok && keys.length > 0 ? { ...read.value.checkpoint, date, keys } : undefined
}
