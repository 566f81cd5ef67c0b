import { BOX } from './chart-plot.ts'
import { linePath } from './chart-line.ts'
import type { SeriesStyle } from './chart-words.ts'
import type { ChartValue } from '../markup/chart-scale.ts'
import { percent, bareScaleOf } from '../markup/chart-scale.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

/**
 * Sparkline with a dot at its last point. It is hidden from screen readers, because the figure beside it has the same value.
 * Sparklines share a scale when `alike` has the figures of all of them.
 */
export function sparkline(
  figures: readonly ChartValue[],
  { style = 1, alike = figures }: Readonly<{ style?: SeriesStyle; alike?: Iterable<ChartValue> }> = {},
): Html {
  const scale = bareScaleOf(alike)
  const share = (index: number): number => (figures.length < 2 ? 1 : index / (figures.length - 1))
  const at = figures.findLastIndex((figure) => figure !== null)
  const last = figures[at] ?? null
  return html`<svg class="spark" aria-hidden="true" width="240" height="40">
    <svg viewBox="0 0 ${BOX} ${BOX}" preserveAspectRatio="none" width="100%" height="100%" overflow="visible">
      <path class="s${style}" d="${linePath(figures, scale, share)}" />
    </svg>
    ${
      last === null
        ? null
        : html`<circle
            class="f${style}"
            cx="${percent(share(at))}"
            cy="${percent(scale.place(last))}"
            r="3"
          />`
    }
  </svg>`
}
