import type { Hash, TreeHasher } from '../../tlog/hash.ts'
import { formatBase64 } from '../../tlog/text.ts'

/** The path from an event's leaf to the root, as computed in this browser. */
export type Path = Readonly<{
  seq: number
  leaf: Hash
  /** Steps from the leaf on: the sibling hash, on the left or right, and the node that both make. */
  steps: readonly Readonly<{ beside: Hash; isLeft: boolean; node: Hash }>[]
  /** Size and root of the checkpoint, and whether its signature was checked. */
  size: number
  root: Hash
  isSigned: boolean
}>

/** A hasher that traces the steps of a path, so that the picture shows what was computed. */
export function tracingHasher(
  hasher: TreeHasher,
  leaf: Hash,
): Readonly<{ noter: TreeHasher; steps: Path['steps'] }> {
  const steps: Path['steps'][number][] = []
  let last = leaf
  return {
    steps,
    noter: {
      ...hasher,
      node(left, right) {
        const isLeft = right === last
        last = hasher.node(left, right)
        steps.push({ beside: isLeft ? left : right, isLeft, node: last })
        return last
      },
    },
  }
}

/** Short form of a hash: the first letters of its base64. */
export const shortHash = (hash: Hash): string => formatBase64(hash).slice(0, LETTERS)

const LETTERS = 8

/** The path in words: a line for each computed hash, and one for the result. */
export function pathLines(
  { seq, leaf, steps, size, root, isSigned }: Path,
  holds: boolean,
): readonly string[] {
  const signed = isSigned ? 'which is signed' : 'whose signature is not checked'
  return [
    `The leaf of event ${seq} is ${formatBase64(leaf)}`,
    ...steps.map(
      ({ beside, isLeft, node }) =>
        `with ${formatBase64(beside)} on its ${isLeft ? 'left' : 'right'} it makes ${formatBase64(node)}`,
    ),
    holds
      ? `That is the root of the checkpoint of ${size} events, ${signed}`
      : `That is not the root of the checkpoint of ${size} events, which is ${formatBase64(root)}`,
  ]
}

// In units of 1/16 rem. 288 units are the width of the narrowest page.
const WIDTH = 288
const [LEFT, MIDDLE, RIGHT] = [44, 144, 244]
const [BOX_WIDTH, BOX_HEIGHT, ROW] = [84, 24, 44]
const HALF = BOX_HEIGHT / 2
/** Vertical position of the root, below the checkpoint. */
const TOP = 80

/** Draws the path: the event at the bottom, the computed hashes above it, and the log's hashes beside them. */
export function drawPath(path: Path, holds: boolean): SVGElement {
  const { seq, leaf, steps, size, root, isSigned } = path
  const at = (row: number): number => TOP + (steps.length - row) * ROW
  const bottom = at(-1) + 4
  const made = [leaf, ...steps.map(({ node }) => node)]
  const given = steps.map(({ beside, isLeft }, row) => ({ beside, x: isLeft ? LEFT : RIGHT, y: at(row) }))
  const [colour, words] = !holds
    ? ['bad', '✖ not the root of the checkpoint']
    : isSigned
      ? ['ok', '✔ the root that is signed']
      : ['', '– the root; its signature is not checked']
  return drawn(
    'svg',
    {
      role: 'img',
      'aria-labelledby': 'path-title path-desc',
      viewBox: `0 0 ${WIDTH} ${bottom}`,
      width: '100%',
      height: `${bottom / 16}rem`,
      preserveAspectRatio: 'xMinYMin',
      fill: 'currentColor',
      'font-size': 13,
      'text-anchor': 'middle',
    },
    drawn('title', { id: 'path-title' }, `The path of event ${seq} to the root, over ${steps.length} hashes`),
    drawn('desc', { id: 'path-desc' }, pathLines(path, holds).at(-1) ?? ''),
    drawn(
      'g',
      { class: colour },
      drawn('path', { d: `M1 1h${WIDTH - 2}v42H1z`, fill: 'none', stroke: 'currentColor' }),
      text(MIDDLE, 18, words),
      text(MIDDLE, 36, `${shortHash(root)}… of ${size} events`),
      text(MIDDLE, 60, holds ? '=' : '≠'),
    ),
    drawn('path', {
      d: given.map(({ x, y }) => `${boxAt(x, y)}M${x} ${y - HALF}v${HALF - ROW / 2}H${MIDDLE}`).join(''),
      fill: 'none',
      stroke: 'currentColor',
      'stroke-dasharray': 3,
    }),
    drawn('path', {
      class: 's1',
      d: made
        .map((_, row) => `${boxAt(MIDDLE, at(row))}M${MIDDLE} ${at(row) + HALF}v${ROW - BOX_HEIGHT}`)
        .join(''),
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 2,
    }),
    drawn(
      'g',
      { 'font-family': 'ui-monospace,monospace' },
      ...made.map((hash, row) => text(MIDDLE, at(row) + 4, `${shortHash(hash)}…`)),
      ...given.map(({ beside, x, y }) => text(x, y + 4, `${shortHash(beside)}…`)),
    ),
    text(MIDDLE, bottom - 5, `event ${seq}`),
  )
}

const boxAt = (x: number, y: number): string =>
  `M${x - BOX_WIDTH / 2} ${y - HALF}h${BOX_WIDTH}v${BOX_HEIGHT}h${-BOX_WIDTH}z`

const text = (x: number, y: number, label: string): SVGElement => drawn('text', { x, y }, label)

function drawn(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...inside: readonly (Node | string)[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.append(...inside)
  return element
}
