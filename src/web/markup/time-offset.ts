import { TZ_MINUTES_MAX } from '../../protocol/parameters.ts'
import { type Html, html } from './html.ts'

const HOUR = 60

/** Offsets from UTC in use that are not whole hours, in minutes. */
const PARTS: readonly number[] = [
  [-9, 30],
  [-3, 30],
  [-2, 30],
  [3, 30],
  [4, 30],
  [5, 30],
  [5, 45],
  [6, 30],
  [8, 45],
  [9, 30],
  [10, 30],
  [12, 45],
  [13, 45],
].map(([hours = 0, minutes = 0]) => hours * HOUR + Math.sign(hours) * minutes)

const WHOLES: readonly number[] = Array.from(
  { length: (2 * TZ_MINUTES_MAX) / HOUR + 1 },
  (_, index) => index * HOUR - TZ_MINUTES_MAX,
)

/** Offset in minutes as text: `+05:45` for 345. */
export function offsetText(minutes: number): string {
  const size = Math.abs(minutes)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / HOUR))}:${two(size % HOUR)}`
}

/** Select element of offsets from UTC. It includes the chosen one, even if no time zone uses it. */
export function offsetSelect(chosen: number): Html {
  const offsets = [...new Set([...WHOLES, ...PARTS, chosen])].toSorted((a, b) => a - b)
  return html`<select name="tz">
    ${offsets.map((offset) =>
      offset === chosen
        ? html`<option value="${offset}" selected>UTC${offsetText(offset)}</option>`
        : html`<option value="${offset}">UTC${offsetText(offset)}</option>`,
    )}
  </select>`
}
