import type { FactName } from './facts.ts'
import type { LineValues } from './line-format.ts'
import { type LineChoice, type LogLines, openLines } from './log-lines.ts'

/** A line that a thread asks the main thread to write. */
export type ThreadLine = Readonly<{ is: 'line'; name: FactName; values: LineValues }>

/** Opens the lines of a thread, which the main thread writes. They are limited here too, because messages are costly. */
export function openThreadLines(
  say: (line: ThreadLine) => void,
  monotonicMs: () => number,
  choice: LineChoice,
): LogLines {
  return openLines(
    (name, values) => say({ is: 'line', name, values }),
    monotonicMs,
    () => choice,
  )
}
