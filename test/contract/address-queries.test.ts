import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DISGUISES, JOINED_DISGUISES, PUBLISHED } from '../story/addresses.ts'
import type { Parameter, ParameterForm } from '../../src/protocol/parameters.ts'
import { isRepeatable } from '../../src/serve/query/address.ts'
import { parseQuery } from '../../src/serve/query/query.ts'

/** Characters of an address that no answer may repeat. */
const REPEATED_CHARS = 6

const FORMS: readonly ParameterForm[] = [
  { is: 'text', charsMax: 5_000, guarded: true },
  { is: 'word' },
  { is: 'words' },
  { is: 'time' },
  { is: 'integer', min: 1, max: 9 },
  { is: 'tx', chains: ['solana'] },
  { is: 'one-of', values: ['asc', 'desc'] },
  { is: 'list-of', values: ['play', 'pool'] },
]
const named = (name: string, form: ParameterForm): Parameter => ({
  name,
  form,
  absent: 'nothing',
  meaning: 'a value',
  example: '1',
})
const TABLE = FORMS.map((form) => named(form.is, form))

const WORN = PUBLISHED.flatMap(({ address, proof }) => {
  const joined = proof === 'length' || address.includes('-') ? [] : JOINED_DISGUISES
  return [...DISGUISES, ...joined].map(([name, dress]) => ({ name, address, worn: dress(address) }))
})

suite('a wallet address in a request', () => {
  for (const [index, name] of [...FORMS.map(({ is }) => is), 'unknown'].entries()) {
    test(`is refused in disguises, and no part of it is repeated: ${name}`, () => {
      // Each parameter meets a third of the addresses in disguise, so each of these meets three parameters.
      for (const { name: disguise, address, worn } of WORN.filter((_, at) => (at + index) % 3 === 0)) {
        const outcome = parseQuery(`${name}=${encodeURIComponent(worn)}`, TABLE)
        assert.ok(!outcome.ok, `${disguise}: ${address}`)
        assert.equal(outcome.problem.code, 'address-forbidden', `${disguise}: ${address}`)
        const said = JSON.stringify(outcome).toLowerCase()
        for (let at = 0; at + REPEATED_CHARS <= address.length; at++) {
          const part = address.slice(at, at + REPEATED_CHARS).toLowerCase()
          assert.ok(!said.includes(part), `${disguise}: ${part}`)
        }
      }
    })
  }

  test('is in no path or query that a page repeats', () => {
    // Each address in disguise is in one of three places.
    for (const [at, { name, address, worn }] of WORN.entries()) {
      const value = encodeURIComponent(worn)
      const query = `/contests?q=${value}&x=1`
      const raw = [`/${value}`, query, query.replaceAll('%20', '+')][at % 3] ?? ''
      assert.ok(!isRepeatable(raw), `${name}: ${address}`)
    }
    for (const raw of [
      '/contests?status=paid&sort=pool',
      '/flows?from=2026-10-01&to=2026-10-02&bucket=hour',
    ]) {
      assert.ok(isRepeatable(raw), raw)
    }
  })
})
