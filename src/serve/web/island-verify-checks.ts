import type { LoyaltyRuns } from '../../protocol/resources.ts'
import type { Tree } from '../../tlog/consistency.ts'
import { consistencyProof, isConsistent, tilesOfConsistency } from '../../tlog/consistency.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { isIncluded } from '../../tlog/inclusion.ts'
import { parseReceipt } from '../../tlog/receipt.ts'
import { formatBase64, formatHex, parseBase64 } from '../../tlog/text.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import type { Log, Steps } from './island-verify-log.ts'
import {
  hasher,
  no,
  right,
  served,
  servedBytes,
  signedCheckpoint,
  tileReader,
  unchecked,
  wrong,
} from './island-verify-log.ts'

/** Whether an event is in the tree that the log signs: from its line to the signature. */
export async function* checkEvent(log: Log, seq: number): Steps {
  const line = await (await served(log, `events/${seq}`)).text()
  const details = await (await served(log, `events/${seq}/details`)).text()
  const [event, said]: readonly { seq?: number; details?: unknown }[] = [
    JSON.parse(line),
    JSON.parse(details),
  ]
  if (event?.seq !== seq || said?.seq !== seq) return yield* no('The lines are of another event')
  const leaf = hasher.leaf(formatEntry(line, said.details === null ? null : details))
  const hash = formatHex(leaf).slice(0, 16)
  yield right(`The line of event #${seq} and its details make the leaf that begins ${hash}`)

  const receipt = parseReceipt(await servedBytes(log, `log/proof/${seq}`))
  if (!receipt.ok) return yield* no(DOUBTS[receipt.doubt])
  const { index, proof, checkpoint } = receipt.value
  if (index !== seq - 1) return yield* no('The proof is of another place of the log')
  const [, size = '', root = ''] = checkpoint.split('\n')
  const claim = { leaf, index, size: Number(size), root: parseBase64(root) ?? new Uint8Array() }
  if (!isIncluded(hasher, claim, proof)) return yield* no(DOUBTS['not-included'])
  yield right(`${proof.length} hashes lead from it to the root of the tree of ${size} events`)
  yield* signedCheckpoint(log, checkpoint)
}

/** What a browser keeps of an earlier visit. */
export type Visit = Readonly<{ size: number; root: string; date: string }>
/** Where a browser keeps it, by the log's origin. */
export type Visits = Readonly<{
  get(origin: string): Visit | undefined
  keep(origin: string, visit: Visit): void
}>

/** Whether the log of now grew out of the one that this browser saw before; it is kept for the next visit. */
export async function* checkVisit(log: Log, visits: Visits, date: string): Steps {
  const note = await (await served(log, 'log/checkpoint')).text()
  const now = yield* signedCheckpoint(log, note)
  if (now === undefined) return
  const before = visits.get(now.origin)
  const visit = { size: now.size, root: formatBase64(now.root), date }
  if (before === undefined) {
    yield unchecked('This browser has kept no checkpoint of this log before')
  } else {
    const earlier = { size: before.size, root: parseBase64(before.root) ?? new Uint8Array() }
    const isGrown = yield* grown(log, earlier, now, before.date)
    if (isGrown !== true) return
  }
  visits.keep(now.origin, visit)
  yield right(`The checkpoint of ${now.size} events is kept in this browser for your next visit`)
}

async function* grown(log: Log, earlier: Tree, now: Tree, date: string): Steps<true> {
  if (earlier.size === 0) return true
  if (earlier.size > now.size) {
    return yield* no(`The log is shorter than on ${date}: it had ${earlier.size} events, and has ${now.size}`)
  }
  const read = await tileReader(log, tilesOfConsistency(earlier.size, now.size) ?? [])
  const proof = consistencyProof(hasher, earlier.size, now.size, read)
  if (proof === undefined || !isConsistent(hasher, earlier, now, proof)) {
    return yield* no(`The log does not grow out of the one of ${date}: its past was changed`)
  }
  const since = now.size - earlier.size
  yield right(
    `Unchanged since your visit on ${date}: the same ${earlier.size} events, and ${since} after them`,
  )
  return true
}

/** Whether a file is the input or the output of a loyalty run that the log names. Nothing of it is sent anywhere. */
export async function* checkLoyaltyFile(log: Log, file: Blob): Steps {
  const running = nobleSha256.create()
  const reader = file.stream().getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) running.update(read.value)
  const digest = `sha256:${formatHex(running.digest())}`
  yield right(`The digest of the ${file.size} bytes of the file is ${digest}`)
  const { runs }: LoyaltyRuns = await (await served(log, 'loyalty/runs')).json()
  const found = runs.flatMap(({ month, input, output }) => [
    ...(input?.digest === digest ? [`the input of ${month}`] : []),
    ...(output?.digest === digest ? [`the output of ${month}`] : []),
  ])
  yield found.length === 0
    ? wrong('No loyalty run of the log names a file of this digest')
    : right(`The log names this file as ${found.join(' and ')}`)
}
