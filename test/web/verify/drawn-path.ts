import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Path from a leaf to the root. Each step has a sibling hash, its side, and the hash computed with it. */
export type Path = Readonly<{
  leaf: string
  steps: readonly (readonly [beside: string, side: string, made: string])[]
}>

/** Computes a path by RFC 9162, section 2.1.3.2. */
export function pathOf(line: string, index: number, size: number, proof: readonly Uint8Array[]): Path {
  const hash = (...parts: readonly Uint8Array[]): Buffer =>
    createHash('sha256').update(Buffer.concat(parts)).digest()
  const leaf = hash(Uint8Array.of(0), Buffer.from(line))
  let [fn, sn, last] = [index, size - 1, leaf]
  const steps = proof.map((beside) => {
    const isLeft = fn % 2 === 1 || fn === sn
    last = isLeft ? hash(Uint8Array.of(1), beside, last) : hash(Uint8Array.of(1), last, beside)
    if (isLeft) while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)]
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
    return [base64(beside), isLeft ? 'left' : 'right', base64(last)] as const
  })
  return { leaf: base64(leaf), steps }
}

/** Path that the page gives as text; `last` is the line after the steps. */
export async function saidPath(page: Page): Promise<Path & Readonly<{ last: string }>> {
  const [leaf = '', ...lines] = await page.locator('[data-path] li').allTextContents()
  const last = lines.pop() ?? ''
  const steps = lines.map((line) => {
    const [, beside = '', side = '', made = ''] =
      /^ with (\S+) on its (left|right) it makes (\S+)$/.exec(line) ?? []
    return [beside, side, made] as const
  })
  return { leaf: leaf.split(' ').at(-1) ?? '', steps, last: last.trim() }
}

/** Labels of the picture and their positions. */
type Letters = Readonly<{ said: string; left: number; right: number; top: number; bottom: number }>

export const lettersIn = (page: Page): Promise<readonly Letters[]> =>
  page.locator('[data-path] svg[role=img] text').evaluateAll((texts) =>
    (texts as unknown as readonly Text[]).map((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect()
      return { said: text.textContent, left, right, top, bottom }
    }),
  )

const middleOf = ({ left, right }: Letters): number => (left + right) / 2
export const inPicture = (hash: string): string => `${hash.slice(0, 8)}…`

/** Path that the picture draws, from the event upwards. Computed hashes are in the middle, siblings beside them. */
export async function drawnPath(page: Page): Promise<Path> {
  const hashes = (await lettersIn(page))
    .filter(({ said }) => /^[\w+/]{8}…$/.test(said))
    .toSorted((one, other) => other.top - one.top)
  const root = hashes.at(-1)
  assert.ok(root !== undefined)
  const x = middleOf(root)
  const made = hashes.filter((one) => Math.abs(middleOf(one) - x) < 1)
  const beside = hashes.filter((one) => !made.includes(one))
  const [leaf, ...above] = made.map(({ said }) => said)
  assert.equal(beside.length, above.length)
  const steps = beside.map((one, step) => {
    assert.ok(Math.abs(one.top - (made[step]?.top ?? 0)) < 1, 'hashes of one step are in one row')
    return [one.said, middleOf(one) < x ? 'left' : 'right', above[step] ?? ''] as const
  })
  return { leaf: leaf ?? '', steps }
}

/** A path with its hashes shortened as in the picture. */
export const cut = ({ leaf, steps }: Path): Path => ({
  leaf: inPicture(leaf),
  steps: steps.map(([beside, side, made]) => [inPicture(beside), side, inPicture(made)]),
})

/** Whether labels overlap. */
export const overlap = (one: Letters, other: Letters): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom

/** DOM type, for functions that run in the page. */
type Text = Readonly<{
  textContent: string
  getBoundingClientRect(): Readonly<{ left: number; right: number; top: number; bottom: number }>
}>
