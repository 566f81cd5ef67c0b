import assert from 'node:assert/strict'

const HEAD = 'c2sp.org/tlog-proof@v1'

/** Whether an answer is a proof. */
export function isProofText(text: string): boolean {
  return text.startsWith(`${HEAD}\n`)
}

/** Reads the parts of a proof from its lines, anew, so that a page which reads it wrongly is noticed. */
export function readProofText(text: string): unknown {
  const [before = '', checkpoint = '', signatures = ''] = text.split('\n\n')
  const [, index, ...hashes] = before.split('\n')
  const [origin, size, root] = checkpoint.split('\n')
  assert.ok(signatures.startsWith('— '), 'the checkpoint of a proof is signed')
  return { seq: Number(index?.replace('index ', '')) + 1, hashes, origin, size: Number(size), root }
}
