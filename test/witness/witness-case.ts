import assert from 'node:assert/strict'
import { verifyRawMlDsa44 } from '../../src/log/tree/signer.ts'
import { formatUtf8, parseNote, parseVkey } from '../../src/tlog/note.ts'
import { openVouching } from '../../src/tlog/quorum.ts'
import { sha256, verifyEd25519 } from '../tlog/example.ts'
import { addCheckpointBody, type AskingLog, openAskingLog } from './asking-log.ts'

/** A question to add-checkpoint, and the status that C2SP tlog-witness demands. Each case has a log of its own. */
export type WitnessCase = Readonly<{
  /** End of the sentence "a witness …". */
  name: string
  /** Size that it has cosigned before; 0 when it has cosigned nothing. */
  before: number
  body: (log: AskingLog) => string | Uint8Array<ArrayBuffer>
  /** 200 has cosignatures, 409 the size `before`, any other status a text of the witness's choice. */
  status: number
  /** Size that it has cosigned after a 200; after any other status that is `before`. */
  after?: number
  /** Status of litewitness 0.9 where it differs. A 200 then also cosigns what the standard refuses. */
  litewitness?: number
}>

/** A witness that knows the logs of the cases. It cosigns with each of its keys. */
type AskedWitness = Readonly<{ url: string; vkeys: readonly string[] }>
/** Most seconds for which a witness may give stored cosignatures again. */
const STORED_SECONDS_MAX = 10
type WitnessAnswer = Readonly<{ status: number; type: string | null; text: string }>

/** Asks the question of a case, and asserts the answer and what the witness then says of its size. */
export async function assertCase(
  witness: AskedWitness,
  { origin, before, body, after = before, ...one }: WitnessCase & Readonly<{ origin: string }>,
  expected: number = one.status,
): Promise<void> {
  const log = openAskingLog(origin)
  if (before > 0) await assertCosigned(witness, addCheckpointBody(0, [], log.checkpoint(before)))
  const question = body(log)
  if (expected === 200) await assertCosigned(witness, question)
  else {
    const { status, type, text } = await askWitness(witness, question)
    assert.equal(status, expected, text)
    if (status === 409) assert.deepEqual({ type, text }, { type: 'text/x.tlog.size', text: `${before}\n` })
    assert.ok(!text.includes('\u2014'), 'a refusal has no signature')
  }
  assert.equal(await cosignedSize(witness, log), expected === 200 ? after : before)
}

/** Sends a body to add-checkpoint. */
export async function askWitness(
  { url }: AskedWitness,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<WitnessAnswer> {
  const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
  }
}

/** Asks for the cosignatures of every key, and verifies them and their times. */
export async function assertCosigned(
  witness: AskedWitness,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const asked = Math.floor(Date.now() / 1_000)
  const { status, text } = await askWitness(witness, body)
  const answered = Math.floor(Date.now() / 1_000)
  assert.equal(status, 200, text)
  assert.match(text, /^(?:\u2014 [^ ]+ [A-Za-z0-9+/=]+\n)+$/)
  // The lines complete the checkpoint, which is the part of the body after the first blank line.
  const question = Buffer.from(body).toString()
  const note = parseNote(formatUtf8(question.slice(question.indexOf('\n\n') + 2) + text))
  assert.ok(note.ok)
  for (const vkey of witness.vkeys) {
    const key = parseVkey(sha256, vkey) ?? assert.fail('the vkey is well formed')
    const opened = await openVouching(note.value, [key], { verifyEd25519, verifyMlDsa44: verifyRawMlDsa44 })
    const [voucher] = opened.ok ? opened.value.vouchers : []
    const time = voucher?.timeSeconds ?? assert.fail('no cosignature of this key holds')
    assert.ok(time >= asked - STORED_SECONDS_MAX && time <= answered, 'the time is that of the answer')
  }
}

/**
 * Size of the largest tree that the witness has cosigned for a known log, at most 998. It answers it to a question with
 * another old size, and cosigns nothing.
 */
export async function cosignedSize(witness: AskedWitness, log: AskingLog): Promise<number> {
  const { status, text } = await askWitness(witness, addCheckpointBody(999, [], log.checkpoint(1_000)))
  assert.equal(status, 409, text)
  return Number(text)
}
