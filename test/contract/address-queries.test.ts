import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DISGUISES, JOINED_DISGUISES, PUBLISHED } from '../story/addresses.ts'
import { isRepeatable } from '../../src/serve/query/address.ts'

const WORN = PUBLISHED.flatMap(({ address, proof }) => {
  const joined = proof === 'length' || address.includes('-') ? [] : JOINED_DISGUISES
  return [...DISGUISES, ...joined].map(([name, dress]) => ({ name, address, worn: dress(address) }))
})

suite('a wallet address in a request', () => {
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
