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
  for (const name of [...FORMS.map(({ is }) => is), 'unknown']) {
    test(`is refused in every disguise, and no part of it is repeated: ${name}`, () => {
      for (const { name: disguise, address, worn } of WORN) {
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
    for (const { name, address, worn } of WORN) {
      for (const raw of [`/${encodeURIComponent(worn)}`, `/contests?q=${encodeURIComponent(worn)}&x=1`]) {
        assert.ok(!isRepeatable(raw), `${name}: ${address}`)
        assert.ok(!isRepeatable(raw.replaceAll('%20', '+')), `${name}: ${address}`)
      }
    }
    for (const raw of [
      '/contests?status=paid&sort=pool',
      '/flows?from=2026-10-01&to=2026-10-02&bucket=hour',
    ]) {
      assert.ok(isRepeatable(raw), raw)
    }
  })
})
