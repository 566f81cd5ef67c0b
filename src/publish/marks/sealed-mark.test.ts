import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MODEL_VERIFIER as verifier, modelSigner } from '../../../test/messages/model-keys.ts'
import { SOME_MARK } from '../../../test/messages/some-mark.ts'
import { OTHER_KEY } from '../../../test/story/signing.ts'
import { encodeMessage } from '../../log/message/message-frame.ts'
import { certifyNode } from '../../log/message/node-key.ts'
import { openMarkGate } from './mark-gate.ts'
import { openMark, sealMark } from './sealed-mark.ts'

const LOG = SOME_MARK.logId
const node = modelSigner('B')
const SEALED = sealMark(SOME_MARK, { node })

const open = (bytes: Uint8Array): unknown => openMark(bytes, LOG, { verifier })

suite('a signed mark', () => {
  test('is read with the key that signed it', () => {
    const key = Buffer.from(node.key.publicKey).toString('base64url')
    assert.deepEqual(openMark(SEALED, LOG, { verifier }), { mark: SOME_MARK, key })
  })

  test('is refused with any bit changed, cut short, made longer or without its signature', () => {
    for (let at = 0; at < SEALED.length; at += 7) {
      const changed = Uint8Array.from(SEALED)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.equal(open(changed), null, `byte ${at}`)
    }
    for (const length of [0, 1, 160, SEALED.length - 161, SEALED.length - 1])
      assert.equal(open(SEALED.subarray(0, length)), null)
    assert.equal(open(Buffer.concat([SEALED, new Uint8Array(1)])), null)
    assert.equal(open(Buffer.alloc(1_000_000, 32)), null)
  })

  test('is refused when no key of the log has certified its node, or when it is of another log', () => {
    assert.equal(open(sealMark(SOME_MARK, { node: certifyNode(LOG, node.key, OTHER_KEY) })), null)
    assert.equal(open(sealMark(SOME_MARK, { node: { ...node, key: OTHER_KEY } })), null)
    assert.equal(open(sealMark({ ...SOME_MARK, logId: 'other' }, { node })), null)
  })

  test('is no message, and a message is no mark', () => {
    const step = { v: 1, logId: LOG, stream: 1, place: 2, prev: new Uint8Array(32), is: 'version' } as const
    assert.equal(open(encodeMessage({ ...step, frames: 1, needs: '1.0.0' }, node)), null)
  })
})

suite('the gate of marks', () => {
  const time = { ms: SOME_MARK.atMs }
  const clock = {
    now: () => time.ms,
    pause: async () => undefined,
    within: async <A>(_: number, answer: Promise<A>) => answer,
  }
  const openGate = () =>
    openMarkGate({ clock, logId: LOG, keys: () => ({ node, verifier }), engineMs: clock.now })

  test('refuses and counts marks that were told more than 15 seconds ago, or that come from the future', () => {
    for (const [ms, isIn] of [
      [0, true],
      [15_000, true],
      [-15_000, true],
      [15_001, false],
      [-15_001, false],
    ] as const) {
      time.ms = SOME_MARK.atMs + ms
      const gate = openGate()
      assert.equal(gate.open(SEALED) !== null, isIn, `${ms} ms`)
      assert.equal(gate.refusedTotal(), isIn ? 0 : 1)
    }
  })

  test('verifies 500 marks a second at most, so that a stranger costs little time', () => {
    time.ms = SOME_MARK.atMs
    const gate = openGate()
    for (let index = 0; index < 500; index += 1) gate.open(Buffer.from('forged'))
    assert.equal(gate.open(SEALED), null)
    assert.equal(gate.refusedTotal(), 501)
    time.ms += 1000
    assert.notEqual(gate.open(SEALED), null)
  })
})
