import { base64, base64url } from '@scure/base'
import { crc16 } from './crc.ts'

/**
 * 36 bytes in base64 of either alphabet. The first character is that of the tag (bounceable or not, main or test
 * network), and the second that of the chain (basic or master). A form reads a plus sign as a blank.
 */
const FORMS = [
  [base64url, /(?=([EUk0][Qf][0-9A-Za-z_-]{46}))/g],
  [base64, /(?=([EUk0][Qf][0-9A-Za-z+/ ]{46}))/g],
] as const
const TAGS: ReadonlySet<number | undefined> = new Set([0x11, 0x51, 0x91, 0xd1])
const CHAINS: ReadonlySet<number | undefined> = new Set([0x00, 0xff])

/** Whether the text has a TON address in its user-friendly form. The raw form is a digest with a number before it. */
export function holdsTon(text: string): boolean {
  return FORMS.some(([coder, pattern]) =>
    text.matchAll(pattern).some(([, run = '']) => {
      const bytes = coder.decode(run.replaceAll(' ', '+'))
      return TAGS.has(bytes[0]) && CHAINS.has(bytes[1]) && crc16(bytes) === 0
    }),
  )
}
