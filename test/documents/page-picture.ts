import { crc32 } from 'node:zlib'

// The picture of README carries the words of the page that it shows, as text of the PNG. So a test notices an old picture.

const SIGNATURE_BYTES = 8
const KEYWORD = 'Description\0'

/**
 * Words of the start page that do not depend on its figures or on the hour: its navigation, buttons and headings, but those
 * of what closes and opens next.
 */
export function wordsOfPage(page: string): string {
  const parts = page.matchAll(/<(?:nav|h2|button|p class="strip")[^>]*>([^]*?)<\/(?:nav|h2|button|p)>/g)
  return [...parts]
    .map(([, part = '']) =>
      part
        .replaceAll(/<[^>]*>|&\w+;/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((words) => words !== '' && !/\d| next$/.test(words))
    .join(' | ')
}

/** The PNG with these words as a text chunk before its end (PNG specification, section 11.3.3.2). */
export function withWords(png: Buffer, words: string): Buffer {
  const data = Buffer.from(`tEXt${KEYWORD}${words}`, 'latin1')
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length - 4)
  crc.writeUInt32BE(crc32(data))
  const end = png.lastIndexOf('IEND') - 4
  return Buffer.concat([png.subarray(0, end), length, data, crc, png.subarray(end)])
}

/** The words in a PNG of `withWords`; empty without them. */
export function wordsInPicture(png: Buffer): string {
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at)
    const chunk = png.toString('latin1', at + 4, at + 8 + length)
    if (chunk.startsWith(`tEXt${KEYWORD}`)) return chunk.slice(4 + KEYWORD.length)
    at += 12 + length
  }
  return ''
}
