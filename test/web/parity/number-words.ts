import assert from 'node:assert/strict'

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const POWERS = new Map(
  'thousand million billion trillion quadrillion quintillion sextillion septillion octillion'
    .split(' ')
    .map((name, index) => [name, 10n ** BigInt(3 * (index + 1))]),
)

/** Reads an amount in words, as far as its whole units. Fails on words that are not in the order of a number. */
export function readAmountWords(text: string, unit: string): { whole: bigint; isCut: boolean } {
  const plain = text.trim().toLowerCase()
  const [, minus = '', rest = ''] = /^(minus )?(.*)$/.exec(plain) ?? []
  const sign = minus === '' ? 1n : -1n
  const named = unit.toLowerCase()
  if (rest === `a part of one ${named}`) return { whole: 0n, isCut: true }
  const isCut = rest.endsWith(`${named}, and a part of one`)
  const end = isCut ? ` ${named}, and a part of one` : ` ${named}`
  assert.ok(rest.endsWith(end), `${text} names its unit`)
  return { whole: sign * readWords(rest.slice(0, -end.length)), isCut }
}

function readWords(text: string): bigint {
  let [total, group, last] = [0n, 0n, 10n ** 33n]
  for (const word of text.split(/ |-/)) {
    const power = POWERS.get(word)
    if (word === 'and') continue
    if (power !== undefined) {
      assert.ok(power < last && group > 0n, `${word} is in its order`)
      total += group * power
      ;[group, last] = [0n, power]
    } else if (word === 'hundred') group *= 100n
    else {
      const value = SMALL.includes(word) ? SMALL.indexOf(word) : TENS.indexOf(word) * 10
      assert.ok(value >= 0, `${word} is a number`)
      group += BigInt(value)
    }
  }
  return total + group
}
