import { type Html, html } from '../../markup/html.ts'

/** Width and height of the seal. */
const SIZE = 112
const MIDDLE = SIZE / 2
/** Distance of every bar's inner end from the middle. */
const INNER = 16
/** Length of the bar of the byte 0, and what the byte 255 has more. */
const [SHORTEST, RANGE] = [6, 16]
const BYTE_MAX = 255
const PLACES = 2

/**
 * The bytes of a root as bars in a ring, the first upwards and the others clockwise. Two readers can compare two roots by
 * eye. `pointer` is the root in an answer: checks read the bytes from the bars again.
 */
export function sealOf(root: Uint8Array, pointer: string): Html {
  const bars = [...root].map((byte, index) => {
    const angle = (index * 2 * Math.PI) / root.length
    const outer = INNER + SHORTEST + (byte * RANGE) / BYTE_MAX
    return `M${pointAt(angle, INNER)}L${pointAt(angle, outer)}`
  })
  return html`<svg viewBox="0 0 ${SIZE} ${SIZE}" role="img" data-root="${pointer}">
    <title>The signed root as a ring of bars</title>
    <circle cx="${MIDDLE}" cy="${MIDDLE}" r="54.5" />
    <circle cx="${MIDDLE}" cy="${MIDDLE}" r="51.5" />
    <path d="${bars.join('')}" />
  </svg>`
}

function pointAt(angle: number, distance: number): string {
  const x = MIDDLE + Math.sin(angle) * distance
  const y = MIDDLE - Math.cos(angle) * distance
  return `${x.toFixed(PLACES)} ${y.toFixed(PLACES)}`
}
