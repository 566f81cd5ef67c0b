/** A noun after a count: `event` for 1, else `events`. */
export function nounOf(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`
}
