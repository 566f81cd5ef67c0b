import { type ByteStream, piecesOf } from './body.ts'
import { DaybookError } from './daybook-error.ts'

/** Characters of the longest line. An event has about 400; the line of its details has at most 16 KiB. */
export const LINE_CHARS_MAX: number = 64 * 1024

/** Splits text that arrives in pieces into lines. Keeps an incomplete line, up to `LINE_CHARS_MAX`. */
function openLines(): (piece: string) => readonly string[] {
  let rest = ''
  return (piece) => {
    // A final carriage return may be the first half of a line end.
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) {
      throw new DaybookError('too-large', `a line has more than ${LINE_CHARS_MAX} characters`)
    }
    return lines
  }
}

/** The lines of a body. */
export type BodyLines = Readonly<{
  lines: ReturnType<typeof streamLines>
  /** Closes the connection, wherever the reading stopped. */
  close: () => Promise<void>
}>

/** Opens a body as lines. */
export function openBodyLines(body: ByteStream): BodyLines {
  const lines = streamLines(body)
  return {
    lines,
    async close() {
      await lines.return()
      // Before the first read the body has no reader, so `return` closes nothing.
      if (!body.locked) await body.cancel().catch(() => undefined)
    },
  }
}

/** Yields the lines of each piece of a UTF-8 body. Ignores text after the last line end. */
export async function* streamLines(body: ByteStream): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder()
  const lines = openLines()
  for await (const piece of piecesOf(body)) yield lines(decoder.decode(piece, { stream: true }))
}
