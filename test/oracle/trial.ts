import type { PublicEntry } from './book.ts'

/** A service, the book downloaded from it, and the random numbers of this run. */
export type Trial = {
  base: string
  book: readonly PublicEntry[]
  /** Repetitions of each question with parameters. */
  rounds: number
  dice: Dice
}

/** A number in [0, below). */
type Dice = (below: number) => number

/** Pseudo-random numbers, the same for the same seed. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Moments of the first and the last event. */
export const span = ({ book }: Trial): readonly [number, number] => [
  book[0]?.event.atMs ?? 0,
  book.at(-1)?.event.atMs ?? 0,
]

/** A moment within the book: often that of an event, or a millisecond before or after. */
export function someMoment(trial: Trial): number {
  const [first, last] = span(trial)
  const near = trial.book[trial.dice(trial.book.length)]?.event.atMs ?? first
  const chosen = [near, near - 1, near + 1, first + trial.dice(last - first)][trial.dice(4)] ?? first
  return Math.min(chosen, last)
}

/** A range of limited length that overlaps the book. */
export function someRange(trial: Trial, longest: number): readonly [number, number] {
  const from = someMoment(trial)
  const to = Math.min(from + 1 + trial.dice(longest), Math.max(span(trial)[1], from + 1))
  return [from, to]
}
