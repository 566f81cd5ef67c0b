import type { ByteStream } from './body.ts'
import { piecesOf } from './body.ts'
import { DaybookError } from './daybook-error.ts'

/** Characters of one line: an event's has some 400, a details' line at most 16 KiB. */
export const LINE_CHARS_MAX: number = 64 * 1024

/** Cuts text into lines, wherever its pieces end. What is no whole line yet is kept, up to `LINE_CHARS_MAX`. */
export function openLines(): (piece: string) => readonly string[] {
  let rest = ''
  return (piece) => {
    // A carriage return at the end may be the first half of a line end.
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) {
      throw new DaybookError('too-large', `a line has more than ${LINE_CHARS_MAX} characters`)
    }
    return lines
  }
}

/** The lines of a body of UTF-8, those of one piece at a time. What follows the last line end is no line. */
export async function* streamLines(body: ByteStream): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder()
  const lines = openLines()
  for await (const piece of piecesOf(body)) yield lines(decoder.decode(piece, { stream: true }))
}
