import type { Readable } from 'node:stream'
import { draftLines } from '../command/operator/draft-lines.ts'
import { pause } from '../command/terminal/pause.ts'
import { openBell } from './bell.ts'
import type { DraftRow } from './draft-sender.ts'

/** Time for which a first line waits for others, so that they share a commit. */
const LINGER_MS = 50
/** Lines that wait to be sent before the input is no longer read. */
const LINES_MAX = 2_000

/** A line of an input, with its number from 1. */
type InputLine = DraftRow & Readonly<{ number: number }>

/**
 * Yields the lines of an input that may never end, those of a moment together. Ends with the input or at a stop. Throws
 * after the lines before a line that cannot be a draft, and after those before a failure to read. `name` is the input's
 * name in that error.
 */
export async function* inputLines(
  input: Readable,
  name: string,
  stop: AbortSignal,
): AsyncGenerator<readonly InputLine[], void, undefined> {
  const bell = openBell(stop)
  const room = openBell(stop)
  const waiting: InputLine[] = []
  let isOver = false

  async function read(): Promise<void> {
    for await (const { number, text } of draftLines(input, name, stop)) {
      waiting.push({ name: `line ${number}`, number, line: text })
      bell.ring()
      if (waiting.length < LINES_MAX) continue
      room.clear()
      await room.wait(null)
    }
  }
  const reading = read().finally(() => {
    isOver = true
    bell.ring()
  })
  // Awaited below, unless a stop comes first.
  reading.catch(() => undefined)

  try {
    while (!stop.aborted) {
      if (waiting.length === 0) {
        if (isOver) return await reading
        bell.clear()
        await bell.wait(null)
        continue
      }
      if (!isOver && waiting.length < LINES_MAX) await pause(LINGER_MS, stop)
      yield waiting.splice(0)
      room.ring()
    }
  } finally {
    input.destroy()
    room.ring()
  }
}
