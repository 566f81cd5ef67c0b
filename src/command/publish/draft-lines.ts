import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { CommandError } from '../terminal/command-error.ts'
import { systemReason } from '../terminal/option-paths.ts'

/** A line that is not blank, without its line break, and its number from 1. */
export type DraftLine = Readonly<{ number: number; text: string }>

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/**
 * Yields the lines of an input until its end or a stop. Throws a CommandError for a line that cannot be a draft, and
 * for an input that cannot be read. `name` is the input's name in that error.
 */
export async function* draftLines(
  source: Readable,
  name: string,
  stop: AbortSignal,
): AsyncGenerator<DraftLine, void, undefined> {
  const cutter = openCutter()
  const close = (): void => void source.destroy()
  stop.addEventListener('abort', close, { once: true })
  if (stop.aborted) close()
  try {
    for await (const chunk of source) yield* cutter.take(bytesOf(chunk))
    yield* cutter.end()
  } catch (error) {
    if (stop.aborted) return
    if (error instanceof CommandError) throw error
    throw new CommandError(`${name} cannot be read: ${systemReason(error)}`, { cause: error })
  } finally {
    stop.removeEventListener('abort', close)
  }
}

/** Fault of a line that cannot be a draft, for the end of a message; null if it may be one. Never repeats the line. */
function lineFault(bytes: Buffer): string | null {
  if (bytes.length > DRAFT_LINE_BYTES_MAX) {
    return `is longer than ${DRAFT_LINE_BYTES_MAX} bytes, the most of a draft`
  }
  // Decoding would replace such bytes, and the log would keep text that nobody wrote.
  return isUtf8(bytes) ? null : 'is not UTF-8'
}

/** Cuts chunks of bytes into lines. */
type Cutter = Readonly<{
  take(chunk: Buffer): Generator<DraftLine, void, undefined>
  /** The last line, when it has no line break. */
  end(): Generator<DraftLine, void, undefined>
}>

function openCutter(): Cutter {
  let rest: Buffer = Buffer.alloc(0)
  let number = 0
  function* lineOf(whole: Buffer): Generator<DraftLine, void, undefined> {
    number += 1
    const bytes = whole.at(-1) === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole
    const fault = lineFault(bytes)
    if (fault !== null) throw new CommandError(`line ${number} ${fault}`)
    const text = bytes.toString()
    if (text.trim() !== '') yield { number, text }
  }
  return {
    *take(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let start = 0
      for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
        yield* lineOf(bytes.subarray(start, end))
        start = end + 1
      }
      rest = bytes.subarray(start)
      // Refused now, because a line without an end would fill the memory. One byte more may be its line break.
      if (rest.length > DRAFT_LINE_BYTES_MAX + 1) yield* lineOf(rest)
    },
    *end() {
      if (rest.length > 0) yield* lineOf(rest)
    },
  }
}

function bytesOf(chunk: unknown): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
}
