import type { Random } from '../../../sim/random.ts'
import { DISGUISES, PUBLISHED } from '../../story/addresses.ts'

/** Part of every made-up text. No answer of the service has it by chance, and it is no word of a search. */
export const MARK = 'q7-Zxv5K'

/** A hostile text, and the parts of it that no answer may repeat. */
type HostileText = Readonly<{ text: string; secrets: readonly string[] }>

/** Texts that parsers get wrong: numbers, moments, names of object properties, paths. */
const TRAPS: readonly [string, ...string[]] = [
  '',
  ' ',
  '0',
  '-0',
  '+1',
  '01',
  '1.0',
  '1e3',
  '0x10',
  '0b1',
  '1_000',
  ' 1',
  '1 ',
  '١٢٣',
  'NaN',
  'Infinity',
  '9007199254740992',
  '9007199254740993',
  '18446744073709551616',
  '99999999999999999999',
  '-9007199254740993',
  '2026-02-30',
  '2026-02-29T00:00:00Z',
  '2026-13-01',
  '2026-10-01T24:00:00Z',
  '2026-10-01T12:00:60Z',
  '2026-10-01T12:00',
  '2026-10-01T12:00:00+02:00',
  '0000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-19T23:59:59Z',
  '9999-12-31T23:59:59.999Z',
  '1790812800',
  '8640000000000001',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  ',',
  ',,,',
  '..',
  '../../etc/passwd',
  '..\\..\\x',
  '/etc/passwd',
  'CON.jsonl.gz',
  '2026-1.jsonl.gz',
  '2026-13.jsonl.gz',
  '0000-01.jsonl.gz',
  '2026-08.jsonl.gz\0.txt',
  '2026-08.jsonl',
  'x999/x999/999',
  '000.p/0',
  '000.p/256',
  '000.p/257',
  'x000',
]

/** Characters that break lines, hide, turn the direction of writing, or are no character. */
const ODD = [
  '\0',
  '\r\n',
  '\n',
  '\t',
  '\u001b[31m',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u200b',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '\uffff',
  'é',
  'e\u0301',
  'İ',
  'ß',
  '漢字',
  '😀',
  '👩‍👩‍👧‍👦',
  '%',
  '%00',
  '%0d%0aSet-Cookie:x',
  '"',
  "'",
  '<script>',
  '&amp;',
  '\\',
  ';',
  '=',
  '#',
  '${7*7}',
  '../',
] as const satisfies readonly [string, ...string[]]

/** Addresses that hold no long run of one digit, which an answer may have by chance. */
const ADDRESSES = PUBLISHED.filter(({ address }) => !address.startsWith('1111'))
/** Characters of an address that count as a repetition of it. */
const REPEATED_CHARS = 12

/** Parts of an address that show it, in lower case. */
function partsOfAddress(address: string): readonly string[] {
  const lower = address.toLowerCase()
  const middle = Math.floor((lower.length - REPEATED_CHARS) / 2)
  return [0, middle, lower.length - REPEATED_CHARS].map((at) => lower.slice(at, at + REPEATED_CHARS))
}

/** A published address in a disguise. */
export function hostileAddress(random: Random): HostileText {
  const { address } = ADDRESSES[random.below(ADDRESSES.length)] ?? { address: '' }
  const [, dress] = random.chance(0.4)
    ? (DISGUISES[0] ?? [])
    : (DISGUISES[random.below(DISGUISES.length)] ?? [])
  return { text: dress?.(address) ?? address, secrets: partsOfAddress(address) }
}

/** A text that no parameter asks for. */
export function hostileText(random: Random): HostileText {
  const kind = random.below(10)
  if (kind < 4) return { text: random.pick(TRAPS), secrets: [] }
  if (kind < 6) return hostileAddress(random)
  if (kind < 9) {
    const parts = Array.from({ length: random.between(1, 4) }, () => random.pick(ODD))
    return { text: `${MARK}${parts.join('x')}`, secrets: [] }
  }
  const length = random.chance(0.2) ? random.between(1_000, 9_000) : random.between(100, 900)
  return {
    text: `${MARK}${random.pick(['a', '1', ',', 'é', '%41', 'a,'])}`.repeat(Math.ceil(length / 9)),
    secrets: [],
  }
}

/** A text as a part of a path or query: percent-encoded once, or wrongly. */
export function encoded(random: Random, text: string): string {
  const once = encodeURIComponent(text.toWellFormed())
  switch (random.below(20)) {
    case 0:
      return encodeURIComponent(once)
    case 1:
      return `${once}%`
    case 2:
      return `${once}%zz`
    case 3:
      return `${once}%ff%fe`
    case 4:
      return `%c0%ae${once}`
    case 5:
      // Addresses of some chains are case-sensitive, so only the escapes change their case.
      return once.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())
    case 6:
      return once.replaceAll('%20', '+')
    default:
      return once
  }
}
