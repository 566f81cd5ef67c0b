import type { CandidateName } from './stream-candidates.ts'

/** What each candidate was measured at, as far as it is installed. */
export type Figures = Readonly<Partial<Record<CandidateName, number>>>

/** What Daybook's figure is held to: a bound of its own, or of its ratio to another's. */
export type Goal = Readonly<({ most: number } | { least: number }) & { to?: CandidateName }>

/** The row of one goal: its words, the figure or ratio, the bound, and whether it is held. */
export function goalRow(name: string, goal: Goal, of: Figures): string[] {
  const { to } = goal
  const [bound, sign] = 'most' in goal ? [goal.most, '≤'] : [goal.least, '≥']
  const other = to === undefined ? 1 : of[to]
  const words = to === undefined ? name : `${name}; to ${to}`
  const at = `${sign} ${bound}${to === undefined ? '' : ' ×'}`
  if (of.Daybook === undefined || other === undefined) return [words, 'not installed', at, '']
  const is = of.Daybook / other
  const isHeld = 'most' in goal ? is <= bound : is >= bound
  return [words, `${is.toFixed(is < 10 ? 2 : 0)}${to === undefined ? '' : ' ×'}`, at, isHeld ? 'OK' : 'OVER']
}
