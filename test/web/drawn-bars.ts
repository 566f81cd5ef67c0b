/** Bars of a style in the markup of a chart, as their index among all bars and their height in thousandths. */
export function drawnBars(
  markup: string,
  style: string,
  count: number,
): readonly (readonly [number, number])[] {
  const path = new RegExp(`class="${style}"\\s+d="([^"]*)"`).exec(markup)?.[1] ?? ''
  return [...path.matchAll(/M([\d.]+),([\d.]+)V([\d.]+)h/g)].map(([, x, foot, end]) => [
    Math.floor((Number(x) * count) / 1_000),
    Math.round((Number(foot) - Number(end)) * 10) / 10,
  ])
}
