const ONES = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
] as const
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'] as const
/** Names of the powers of a thousand, from 10^0 to 10^27. */
const THOUSANDS = [
  '',
  'thousand',
  'million',
  'billion',
  'trillion',
  'quadrillion',
  'quintillion',
  'sextillion',
  'septillion',
  'octillion',
] as const
/** Longest whole part that has words. */
const DIGITS_MAX = 3 * THOUSANDS.length
const HUNDRED = 100
const TEN = 10
const PARTS = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * An amount in words, cut to whole units: `One thousand three hundred and sixty-three KOTS, and a part of one`. Null for
 * a whole part of more than 30 digits.
 */
export function amountWords(amount: string, unit: string): string | null {
  const [, sign = '', whole = '', decimals = ''] = PARTS.exec(amount) ?? []
  if (whole === '' || whole.length > DIGITS_MAX) return null
  const rest = /[1-9]/.test(decimals)
  const units = BigInt(whole)
  const before = sign === '' ? '' : 'minus '
  const words =
    units === 0n && rest ? `${before}a part of one ${unit}` : `${before}${wholeWords(units)} ${unit}`
  const sentence = units > 0n && rest ? `${words}, and a part of one` : words
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1)
}

/** A whole number in words: `two million and five`. */
function wholeWords(value: bigint): string {
  if (value === 0n) return ONES[0]
  const digits = String(value)
  const groups = Math.ceil(digits.length / 3)
  const padded = digits.padStart(groups * 3, '0')
  const words: string[] = []
  for (let index = 0; index < groups; index += 1) {
    const group = Number(padded.slice(index * 3, index * 3 + 3))
    const power = groups - 1 - index
    if (group === 0) continue
    // British usage: "one thousand and five", as within a hundred.
    if (power === 0 && group < HUNDRED && words.length > 0) words.push('and')
    words.push(groupWords(group))
    if (power > 0) words.push(THOUSANDS[power] ?? '')
  }
  return words.join(' ')
}

/** A number from 1 to 999 in words: `three hundred and sixty-three`. */
function groupWords(group: number): string {
  const [hundreds, rest] = [Math.floor(group / HUNDRED), group % HUNDRED]
  const below = rest === 0 ? '' : rest < ONES.length ? ONES[rest] : tensWords(rest)
  if (hundreds === 0) return below ?? ''
  return below === '' ? `${ONES[hundreds]} hundred` : `${ONES[hundreds]} hundred and ${below}`
}

function tensWords(value: number): string {
  const [tens, ones] = [TENS[Math.floor(value / TEN)], value % TEN]
  return ones === 0 ? `${tens}` : `${tens}-${ONES[ones]}`
}
