import type { LoyaltyRuns } from '../../protocol/resources.ts'
import { formatHex } from '../../tlog/text.ts'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import type { Log, CheckSteps } from './island-verify-log.ts'
import { fetchNewestCheckpoint, no, right, servedText, unchecked, wrongStep } from './island-verify-log.ts'
import type { ProvedEvent } from './island-verify-tree.ts'
import { provedEvent } from './island-verify-tree.ts'

/** Whether an event is in the tree that the log signs. */
export async function* checkEvent(log: Log, seq: number): CheckSteps<ProvedEvent> {
  const now = yield* fetchNewestCheckpoint(log)
  return now && (yield* provedEvent(log, now, seq))
}

/** Which transaction an event of the log names, and where it can be seen: each `{tx}` in an address stands for it. */
export async function* checkPayment(log: Log, seq: number, explorers: readonly string[]): CheckSteps {
  const event = yield* checkEvent(log, seq)
  if (event === undefined) return
  const { tx } = event
  yield tx === null
    ? unchecked(`Event #${seq} names no transaction`)
    : unchecked(
        `Event #${seq} names the transaction ${tx}. Whether its chain has it is not looked up here${explorers.length > 0 ? ', but at' : ''}`,
        explorers.map((address) => address.replaceAll('{tx}', encodeURIComponent(tx))),
      )
}

/** Whether an event of the log names a file as that of a loyalty run. Nothing of the file is sent anywhere. */
export async function* checkLoyaltyFile(log: Log, file: Blob): CheckSteps {
  const running = nobleSha256.create()
  const reader = file.stream().getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) running.update(read.value)
  const digest = `sha256:${formatHex(running.digest())}`
  yield right(`The digest of the ${file.size} bytes of the file is ${digest}`)
  const { runs }: LoyaltyRuns = JSON.parse(await servedText(log, 'loyalty/runs'))
  const halves = runs.flatMap(({ input, output }) => [input, output])
  const seqs = halves.flatMap((half) => (half?.digest === digest ? [half.seq] : []))
  if (seqs.length === 0) yield wrongStep('No loyalty run that the server lists names a file of this digest')
  // The list is nobody's word but the server's: the event is what the log has signed.
  for (const seq of seqs) {
    const event = yield* checkEvent(log, seq)
    if (event === undefined) {
      yield unchecked('The server says that a loyalty run names this file, which is not proved')
      return
    }
    const { type, kind, details } = event
    if (type !== 'loyalty' || details?.['digest'] !== digest) {
      return yield* no(`The server names event #${seq} of the log, which does not name this file`)
    }
    yield right(`Event #${seq} names this file as the ${kind} of ${String(details['month'])}`)
  }
}
