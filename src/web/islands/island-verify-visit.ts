import { readCheckpoint } from '../../tlog/checkpoint.ts'
import type { Tree } from '../../tlog/consistency.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { formatVkey, parseVkey, type VerifierKey } from '../../tlog/vkey.ts'
import {
  type CheckSteps,
  failed,
  keysFrom,
  type Log,
  passed,
  servedText,
  sha256Sync,
  signedCheckpoint,
  unchecked,
} from './island-verify-log.ts'
import { checkGrowth } from './island-verify-tree.ts'

/** The browser's storage of earlier visits, by URL and by origin of the log. */
export type Visits = Readonly<{
  get(name: string): string
  /** Stores a visit. Returns whether the browser stored it. */
  keep(name: string, text: string): boolean
}>

/** An earlier visit: the tree, its log, and the keys that had signed it. */
type EarlierVisit = Tree & Readonly<{ origin: string; date: string; keys: readonly VerifierKey[] }>

/**
 * Checks that the log extends the one of earlier visits, at this URL or with this origin, and stores it for the next
 * visit. A checkpoint whose signature cannot be checked is neither stored nor compared.
 */
export async function* checkVisit(log: Log, address: string, visits: Visits, date: string): CheckSteps {
  const note = await servedText(log, 'log/checkpoint')
  const now = yield* signedCheckpoint(log, note)
  if (now === undefined) return
  if (now.keys.length === 0) {
    yield unchecked('Without a checked signature, nothing is stored or compared')
    return
  }
  const names = [address, now.origin]
  const seen = names.map((name) => parseVisit(visits.get(name))).filter((visit) => visit !== undefined)
  const signs = (key: VerifierKey): boolean => now.keys.includes(formatVkey(key))
  for (const { origin, keys, date: then } of seen) {
    const isSame = origin === now.origin
    if (isSame && (keys.some(signs) || (await keysFrom(log, keys)).some(signs))) continue
    const whose = keys.map(formatVkey).join(', ')
    return yield* failed(
      `This is not the log that you visited on ${then}: that was ${origin}, signed by ${whose}. Ask its operator before you trust this one`,
    )
  }
  const before = seen.at(-1)
  const isFirst = before === undefined
  if (!isFirst && (yield* checkGrowth(log, before, now, `your visit on ${before.date}`)) === undefined) return
  const text = `${date} ${now.keys.join(' ')}\n${note}`
  if (!names.every((name) => visits.keep(name, text))) return yield unchecked('This browser stores nothing')
  yield { ...passed(`The checkpoint of seq ${now.size} is stored for your next visit`), isFirst }
}

/** Parses a stored visit: a line with date and keys, then the signed note. Undefined for anything else. */
function parseVisit(text: string): EarlierVisit | undefined {
  const end = text.indexOf('\n')
  const [date = '', ...vkeys] = text.slice(0, Math.max(0, end)).split(' ')
  const keys = vkeys.flatMap((vkey) => parseVkey(sha256Sync, vkey) ?? [])
  const read = readCheckpoint(formatUtf8(text.slice(end + 1)))
  return read.ok && keys.length > 0 ? { ...read.value.checkpoint, date, keys } : undefined
}
