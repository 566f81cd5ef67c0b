import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RULES } from '../../../protocol/rules.ts'
import { plainText } from '../../markup/page-lead.ts'
import { eventName, typeNames } from './event-names.ts'

suite('the name of an event', () => {
  test('is in words for every type and kind of the rules', () => {
    const names = RULES.map(({ type, kind }) =>
      plainText(eventName(type, kind === '*' ? 'voter_share' : kind)),
    )
    for (const name of names) assert.match(name, /^(?!Event )[A-Z][^_*]+$/)
    // Each correction has the kind of what it cancels.
    assert.equal(new Set(names).size, names.length)
  })

  const examples: readonly (readonly [type: string, kind: string, name: string])[] = [
    ['play', 'vote', 'Vote'],
    ['payout', 'runner_up', 'Payment to a runner-up'],
    ['payout', 'refund', 'Refund to players'],
    ['prize', 'winner', 'Prizes of the winner'],
    ['contest', 'opened', 'Contest opened'],
    ['correction', 'payout', 'Correction (payout)'],
    ['later', 'thing', 'Event (later)'],
  ]
  for (const [type, kind, name] of examples) {
    test(`${type}/${kind} is: ${name}`, () => {
      assert.equal(plainText(eventName(type, kind)), name)
    })
  }

  test('of a type is in the plural, and of an unknown type the type', () => {
    assert.equal(typeNames(['payout', 'prize']), 'Payments, prizes won')
    assert.equal(typeNames(['later']), 'Later')
  })
})
