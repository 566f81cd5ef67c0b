import { type Html, html } from './html.ts'

const HEIGHT = 44
const BAR = 4
const STEP = 5.5
const BYTE_MAX = 255

/**
 * The 32 bytes of a root in base64 as 32 bars, so that two readers can compare two roots by eye. It is a picture and no
 * proof: show the root beside it. `pointer` is the root in an answer: checks read the bytes from the bars again.
 */
export function rootBars(root: string, pointer: string): Html {
  const bytes = Buffer.from(root, 'base64')
  const bars = Array.from(bytes, (byte, index) => {
    const height = ((byte / BYTE_MAX) * HEIGHT).toFixed(1)
    return `M${index * STEP} ${HEIGHT}v-${height}h${BAR}v${height}z`
  })
  const width = bytes.length * STEP
  return html`<svg
    class="root"
    viewBox="0 0 ${width} ${HEIGHT}"
    role="img"
    aria-label="The root as bars"
    data-root="${pointer}"
  >
    <path d="${bars.join('')}" />
  </svg>`
}
