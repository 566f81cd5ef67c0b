import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import { DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { pause } from '../operator/publish-door.ts'
import { CommandError } from '../terminal/world.ts'
import { openBell } from './bell.ts'
import type { DraftRow } from './draft-sender.ts'

/** Time for which a first line waits for others, so that they share a commit. */
const LINGER_MS = 50
/** Lines that wait to be sent before the input is no longer read. */
const LINES_MAX = 2_000

/** Yields the lines of an endless input, those of a moment together. Ends with the input or at a stop. */
export async function* followLines(
  input: Readable,
  stop: AbortSignal,
): AsyncGenerator<readonly DraftRow[], void, undefined> {
  const bell = openBell(stop)
  const waiting: DraftRow[] = []
  let [number, isOver] = [0, false]
  const lines = createInterface({ input, crlfDelay: Infinity })
  lines.on('line', (text) => {
    number += 1
    if (text.trim() !== '') waiting.push({ name: `line ${number}`, line: text })
    if (waiting.length >= LINES_MAX) lines.pause()
    bell.ring()
  })
  lines.on('close', () => {
    isOver = true
    bell.ring()
  })
  try {
    while (!stop.aborted) {
      if (waiting.length === 0) {
        if (isOver) return
        bell.clear()
        await bell.wait(null)
        continue
      }
      if (!isOver && waiting.length < LINES_MAX) await pause(LINGER_MS, stop)
      const rows = waiting.splice(0)
      const long = rows.find(({ line }) => Buffer.byteLength(line) > DRAFT_LINE_BYTES_MAX)
      if (long !== undefined) {
        throw new CommandError(
          1,
          `${long.name} is longer than ${DRAFT_LINE_BYTES_MAX} bytes, the most of a draft`,
        )
      }
      yield rows
      if (!isOver) lines.resume()
    }
  } finally {
    lines.close()
    input.destroy()
  }
}
