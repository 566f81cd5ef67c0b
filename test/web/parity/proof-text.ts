import assert from 'node:assert/strict'
import { type Element, elementsIn } from './page-tree.ts'

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

const BAR = /M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)/g
const UPRIGHT = /M([\d.]+) 44v-([\d.]+)h4v([\d.]+)z/g

/** Bytes that the bars of a picture of a root show, from their lengths: upright from left to right, or in a ring. */
export function sealBytes(svg: Element): readonly number[] {
  const d =
    elementsIn(svg)
      .find(({ name }) => name === 'path')
      ?.attributes.get('d') ?? ''
  if (d.includes('v-')) {
    return [...d.matchAll(UPRIGHT)].map(([, x, height, back], index) => {
      assert.ok(Number(x) === index * 5.5 && height === back, 'the bars stand side by side')
      return Math.round((Number(height) * 255) / 44)
    })
  }
  return [...d.matchAll(BAR)].map(([, ...numbers], index, all) => {
    const [x = 0, y = 0, toX = 0, toY = 0] = numbers.map(Number)
    const angle = (Math.atan2(toX - 56, 56 - toY) / (2 * Math.PI) + 1) % 1
    const off = Math.abs(angle - index / all.length)
    assert.ok(Math.min(off, 1 - off) < 0.001, 'the bars stand in a ring')
    return Math.round(((Math.hypot(toX - x, toY - y) - 6) * 255) / 16)
  })
}
