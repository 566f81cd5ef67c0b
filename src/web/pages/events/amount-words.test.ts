import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readAmountWords } from '../../../../test/web/parity/number-words.ts'
import { amountWords } from './amount-words.ts'

const WORDS: readonly (readonly [amount: string, words: string])[] = [
  ['1363.509856984', 'One thousand three hundred and sixty-three KOTS, and a part of one'],
  ['1363.000000000', 'One thousand three hundred and sixty-three KOTS'],
  ['0.000000001', 'A part of one KOTS'],
  ['0.000000000', 'Zero KOTS'],
  ['1.000000000', 'One KOTS'],
  ['1.5', 'One KOTS, and a part of one'],
  ['12.300000000', 'Twelve KOTS, and a part of one'],
  ['20.000000000', 'Twenty KOTS'],
  ['21', 'Twenty-one KOTS'],
  ['100', 'One hundred KOTS'],
  ['101', 'One hundred and one KOTS'],
  ['119', 'One hundred and nineteen KOTS'],
  ['999', 'Nine hundred and ninety-nine KOTS'],
  ['1000', 'One thousand KOTS'],
  ['1005', 'One thousand and five KOTS'],
  ['1100', 'One thousand one hundred KOTS'],
  ['40013', 'Forty thousand and thirteen KOTS'],
  ['1000001', 'One million and one KOTS'],
  ['1200000', 'One million two hundred thousand KOTS'],
  ['1012345', 'One million twelve thousand three hundred and forty-five KOTS'],
  ['-7.000000000', 'Minus seven KOTS'],
  ['-0.500000000', 'Minus a part of one KOTS'],
  ['1000000000000000000', 'One quintillion KOTS'],
  ['100000000000000000000000000000', 'One hundred octillion KOTS'],
]

suite('an amount in words', () => {
  for (const [amount, words] of WORDS) {
    test(`${amount} is: ${words}`, () => {
      assert.equal(amountWords(amount, 'KOTS'), words)
    })
  }

  test('is the same number when it is read again, up to 10^29', () => {
    let digits = '7'
    for (let step = 0; step < 2_000; step += 1) {
      // A fixed sequence of numbers of 1 to 30 digits, with many zeros.
      const mixed = (BigInt(`0x${(step * 2_654_435_761).toString(16)}`) * BigInt(digits)) % 10n ** 29n
      digits = String(mixed).replaceAll(/[3-5]/g, '0').replace(/^0+/, '') || '1'
      const whole = digits.slice(0, 1 + (step % 30))
      const words = amountWords(`${whole}.000000001`, 'KOTS') ?? assert.fail()
      assert.deepEqual(readAmountWords(words, 'KOTS'), { whole: BigInt(whole), isCut: true }, words)
    }
  })

  test('has no words above 30 digits, and none for another text', () => {
    assert.equal(amountWords('9'.repeat(31), 'KOTS'), null)
    assert.match(amountWords('9'.repeat(30), 'KOTS') ?? '', /^Nine hundred and ninety-nine octillion /)
    assert.equal(amountWords('1e3', 'KOTS'), null)
  })
})
