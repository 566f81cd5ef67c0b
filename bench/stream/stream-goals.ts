import type { CandidateName } from './stream-candidates.ts'

/** Figure of each installed candidate. */
export type Figures = Readonly<Partial<Record<CandidateName, number>>>

/** Bound of Daybook's figure, or of its ratio to another candidate's. */
export type Goal = Readonly<({ most: number } | { least: number }) & { to?: CandidateName }>

/** Report row of a goal: its name, the figure or ratio, the bound, and whether it is met. */
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
