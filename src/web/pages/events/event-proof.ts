import { assert } from '../../../protocol/brand.ts'
import { readCheckpoint } from '../../../tlog/checkpoint.ts'
import { parseReceipt } from '../../../tlog/receipt.ts'
import { formatBase64, formatUtf8 } from '../../../tlog/text.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Content of an event's proof, without any check of it: its hashes, and the signed size and root. */
export type EventProof = Readonly<{
  hashes: number
  origin: string
  size: number
  /** The root in base64. */
  root: string
}>

/** Asks for the proof of an event against the newest checkpoint. */
export async function askProof({ ask }: Pick<View, 'ask'>, seq: number): Promise<LinkedAnswer<EventProof>> {
  const reply = await ask('logProof', { segments: { seq: String(seq) } })
  assert(reply.ok, 'an event that is shown has a proof')
  const receipt = parseReceipt(formatUtf8(reply.value.answer))
  assert(receipt.ok, 'the service makes proofs in their form')
  const read = readCheckpoint(formatUtf8(receipt.value.checkpoint))
  assert(read.ok, 'a proof ends with a checkpoint')
  const { origin, size, root } = read.value.checkpoint
  const hashes = receipt.value.proof.length
  return {
    address: reply.value.address,
    answer: { hashes, origin, size, root: formatBase64(root) },
  }
}
