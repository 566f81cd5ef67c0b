import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DISGUISES, JOINED_DISGUISES, PUBLISHED } from '../../../test/story/addresses.ts'
import { parseDraft } from './grammar.ts'

/** Characters of an address that no refusal may repeat. */
const REPEATED_CHARS = 6

/** Each published address in each disguise that hides it from nobody. */
const WORN = PUBLISHED.flatMap(({ address, proof }) => {
  const joined = proof === 'length' || address.includes('-') ? [] : JOINED_DISGUISES
  return [...DISGUISES, ...joined].map(([name, dress]) => ({ name, address, worn: dress(address) }))
})

type Place = Readonly<{ field: string; draftOf: (text: string) => unknown }>

const PLACES: readonly Place[] = [
  {
    field: 'details.title',
    draftOf: (title) => ({
      type: 'contest',
      kind: 'scheduled',
      contestId: 7,
      details: { title, opensAt: 1_790_000_000_000, closesAt: 1_790_000_000_001 },
    }),
  },
  {
    field: 'details.reason',
    draftOf: (reason) => ({ type: 'contest', kind: 'cancelled', contestId: 7, details: { reason } }),
  },
  {
    field: 'details.url',
    draftOf: (text) => ({
      type: 'loyalty',
      kind: 'input',
      details: { month: '2026-10', digest: `sha256:${'ab'.repeat(32)}`, url: `https://x.example/?a=${text}` },
    }),
  },
  { field: 'kind', draftOf: (kind) => ({ type: 'play', kind, contestId: 7, kots: '1' }) },
  {
    field: 'tx',
    draftOf: (tx) => ({ type: 'payout', kind: 'winner', contestId: 7, kots: '1', tx: `"${tx}"` }),
  },
]

suite('a wallet address in a draft', () => {
  for (const { field, draftOf } of PLACES) {
    for (const mode of ['publish', 'import'] as const) {
      test(`is refused in every disguise, and no part of it is repeated: ${field}, ${mode}`, () => {
        assert.ok(WORN.length > 1_500, `${WORN.length} texts`)
        for (const { name, address, worn } of WORN) {
          const draft = { ref: 'r', ...(mode === 'import' ? { at: '2026-10-01T00:00:00.000Z' } : {}) }
          const outcome = parseDraft(Object.assign(draft, draftOf(worn)), { chain: 'opaque', mode })
          assert.ok(!outcome.ok, `${name}: ${address}`)
          assert.equal(outcome.code, 'address-forbidden', `${name}: ${address}`)
          assert.equal(outcome.field, field)
          const said = JSON.stringify(outcome).toLowerCase()
          for (const text of [address, worn]) {
            for (let at = 0; at + REPEATED_CHARS <= text.length; at++) {
              const part = text.slice(at, at + REPEATED_CHARS).toLowerCase()
              // Words of a disguise, such as "wallet", are no part of the address.
              const isOfAddress = text === address || address.toLowerCase().includes(part)
              assert.ok(!isOfAddress || !said.includes(part), `${name}: ${part}`)
            }
          }
        }
      })
    }
  }
})
