import { ENTRY_BYTES_MAX } from '../../tlog/entries.ts'
import { WrongError } from './finding.ts'

/** The bytes of a gzip file, unpacked piece by piece; what is no whole gzip member, and nothing else, is wrong. */
export async function* unpacked(place: string, file: Uint8Array): AsyncGenerator<Uint8Array> {
  const pieces = new Blob([new Uint8Array(file)]).stream().pipeThrough(new DecompressionStream('gzip'))
  const reader = pieces.getReader()
  try {
    for (;;) {
      const next = await reader.read()
      if (next.done) return
      yield next.value
    }
  } catch (cause) {
    if (cause instanceof WrongError) throw cause
    throw new WrongError(place, 'is no whole gzip file', { cause })
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The lines in unpacked bytes, without their line feeds, those of each piece together. Every line ends. */
export async function* unpackedLines(
  place: string,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decode(place, () => decoder.decode(piece, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    // What follows may never end: no more of it is held than a line may have.
    if (rest.length > ENTRY_BYTES_MAX) throw new WrongError(place, 'has a line that is too long')
    yield lines
  }
  rest += decode(place, () => decoder.decode())
  if (rest !== '') throw new WrongError(place, 'has a last line that does not end')
}

function decode(place: string, text: () => string): string {
  try {
    return text()
  } catch (cause) {
    throw new WrongError(place, 'is no UTF-8', { cause })
  }
}
