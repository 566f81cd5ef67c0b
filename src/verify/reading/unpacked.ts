import { ENTRY_BYTES_MAX } from '../../tlog/entries.ts'
import { WrongError } from './finding.ts'

/** Unpacked bytes of a gzip file, in pieces. Rejects unless the file is exactly one complete gzip member. */
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
    throw new WrongError(place, 'is not a complete gzip file', { cause })
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Lines of unpacked bytes without line feeds, in one batch for each piece. The last line must end too. */
export async function* unpackedLines(
  place: string,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decode(place, () => decoder.decode(piece, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    // A line may never end, so its length is limited.
    if (rest.length > ENTRY_BYTES_MAX) throw new WrongError(place, 'has a line that is too long')
    yield lines
  }
  rest += decode(place, () => decoder.decode())
  if (rest !== '') throw new WrongError(place, 'has a last line without a line feed')
}

function decode(place: string, text: () => string): string {
  try {
    return text()
  } catch (cause) {
    throw new WrongError(place, 'is not UTF-8', { cause })
  }
}
