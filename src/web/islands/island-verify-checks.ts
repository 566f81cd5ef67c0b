import type { LoyaltyRuns } from '../../protocol/resources.ts'
import { formatHex } from '../../tlog/text.ts'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import {
  type CheckSteps,
  failed,
  failedStep,
  fetchNewestCheckpoint,
  type Log,
  passed,
  servedText,
  unchecked,
} from './island-verify-log.ts'
import type { OnChain } from './island-verify-fields.ts'
import { type ProvedEvent, provedEvent } from './island-verify-tree.ts'

/** Checks that an event is in the signed tree. */
export async function* checkEvent(log: Log, seq: number): CheckSteps<ProvedEvent> {
  const now = yield* fetchNewestCheckpoint(log)
  return now && (yield* provedEvent(log, now, seq))
}

/**
 * Checks an event and its transaction: on the chain when the reader named RPC servers, else with links to explorers. `{tx}`
 * in a template is the transaction.
 */
export async function* checkPayment(
  log: Log,
  seq: number,
  explorers: readonly string[],
  onChain: OnChain | null,
): CheckSteps {
  const now = yield* fetchNewestCheckpoint(log)
  if (now === undefined) return
  const event = yield* provedEvent(log, now, seq)
  if (event === undefined) return
  if (onChain !== null && event.tx !== null) return yield* onChain.payment(log, event, onChain.fields, now)
  const { tx } = event
  yield tx === null
    ? unchecked(`Event ${seq} names no transaction`)
    : unchecked(
        `Event ${seq} names the transaction ${tx}. It is not looked up on its blockchain here${explorers.length > 0 ? ', but at' : ''}`,
        explorers.map((address) => address.replaceAll('{tx}', encodeURIComponent(tx))),
      )
}

/** Checks that an event of the log names a file of a loyalty run. The file stays in the browser. */
export async function* checkLoyaltyFile(log: Log, file: Blob): CheckSteps {
  const running = nobleSha256.create()
  const reader = file.stream().getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) running.update(read.value)
  const digest = `sha256:${formatHex(running.digest())}`
  yield passed(`The digest of the ${file.size} bytes of the file is ${digest}`)
  const { runs }: LoyaltyRuns = JSON.parse(await servedText(log, 'loyalty/runs'))
  const halves = runs.flatMap(({ input, output }) => [input, output])
  const seqs = halves.flatMap((half) => (half?.digest === digest ? [half.seq] : []))
  if (seqs.length === 0) yield failedStep('No loyalty run that the server lists names a file of this digest')
  // The list of runs is not signed; the event is.
  for (const seq of seqs) {
    const event = yield* checkEvent(log, seq)
    if (event === undefined) {
      yield unchecked('The server says that a loyalty run names this file, which is not proved')
      return
    }
    const { type, kind, details } = event
    if (type !== 'loyalty' || details?.['digest'] !== digest) {
      return yield* failed(`The server names event ${seq} of the log, which does not name this file`)
    }
    yield passed(`Event ${seq} names this file as the ${kind} of ${String(details['month'])}`)
  }
}
