import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { DISGUISES, JOINED_DISGUISES, provenAddresses, PUBLISHED } from '../../../test/story/addresses.ts'
import { openCampaign } from '../../../test/torture/campaign.ts'
import { parseDraft } from './grammar.ts'

const CAMPAIGN = openCampaign('address-leaks')
/** Characters of an address that no refusal may repeat. */
const REPEATED_CHARS = 6

type Dress = (text: string) => string
/** An address in a disguise that hides it from nobody. */
type Worn = Readonly<{ name: string; address: string; worn: string }>

/** Each published address in each disguise. */
const PUBLISHED_WORN: readonly Worn[] = PUBLISHED.flatMap(({ address, proof }) => {
  const joined = proof === 'length' || address.includes('-') ? [] : JOINED_DISGUISES
  return [...DISGUISES, ...joined].map(([name, dress]) => ({ name, address, worn: dress(address) }))
})

/** Encodings that may lie around any disguise: a reader's program undoes them. */
const ENCODINGS: readonly (readonly [name: string, dress: Dress])[] = [
  ['', (text) => text],
  [', percent-encoded', encodeURIComponent],
  [', as entities', (text) => Array.from(text, (letter) => `&#${letter.codePointAt(0)};`).join('')],
]

type Place = Readonly<{ field: string; charsMax: number; draftOf: (text: string) => unknown }>

const PLACES: readonly Place[] = [
  {
    field: 'details.title',
    charsMax: 200,
    draftOf: (title) => ({
      type: 'contest',
      kind: 'scheduled',
      contestId: 7,
      details: { title, opensAt: 1_790_000_000_000, closesAt: 1_790_000_000_001 },
    }),
  },
  {
    field: 'details.reason',
    charsMax: 500,
    draftOf: (reason) => ({ type: 'contest', kind: 'cancelled', contestId: 7, details: { reason } }),
  },
  {
    field: 'details.url',
    charsMax: 1_900,
    draftOf: (text) => ({
      type: 'loyalty',
      kind: 'input',
      details: { month: '2026-10', digest: `sha256:${'ab'.repeat(32)}`, url: `https://x.example/?a=${text}` },
    }),
  },
  { field: 'kind', charsMax: 32, draftOf: (kind) => ({ type: 'play', kind, contestId: 7, kots: '1' }) },
  {
    field: 'tx',
    charsMax: 128,
    draftOf: (tx) => ({ type: 'payout', kind: 'winner', contestId: 7, kots: '1', tx: `"${tx}"` }),
  },
]

/** Asserts that a draft with the text is refused as an address, and that the refusal repeats no part of it. */
function assertRefused(
  { name, address, worn }: Worn,
  { field, draftOf }: Place,
  mode: 'publish' | 'import',
): void {
  const draft = { ref: 'r', ...(mode === 'import' ? { at: '2026-10-01T00:00:00.000Z' } : {}) }
  const outcome = parseDraft(Object.assign(draft, draftOf(worn)), { chain: 'opaque', mode })
  const what = `${field}, ${name}: ${address}`
  assert.ok(!outcome.ok, what)
  assert.equal(outcome.code, 'address-forbidden', what)
  assert.equal(outcome.field, field)
  const said = JSON.stringify(outcome).toLowerCase()
  const [whole, lower] = [address.toLowerCase(), worn.toLowerCase()]
  for (let at = 0; at + REPEATED_CHARS <= lower.length; at++) {
    const part = lower.slice(at, at + REPEATED_CHARS)
    // Words of a disguise, such as "wallet", are no part of the address.
    assert.ok(!whole.includes(part) || !said.includes(part), `${name}: ${part}`)
  }
  for (let at = 0; at + REPEATED_CHARS <= whole.length; at++)
    assert.ok(!said.includes(whole.slice(at, at + REPEATED_CHARS)), what)
}

suite(`a wallet address in ${CAMPAIGN.size} drafts`, () => {
  test('is refused in every disguise, and no part of it is repeated', (t) => {
    const { random, seedNumber } = CAMPAIGN
    const seen = { published: 0, random: 0, twice: 0, places: new Set<string>() }
    const made = fc.sample(provenAddresses, {
      numRuns: Math.max(1, CAMPAIGN.size - PUBLISHED_WORN.length),
      seed: seedNumber,
    })
    for (let number = 0; number < CAMPAIGN.size; number++) {
      const place = PLACES[number % PLACES.length] ?? assert.fail('a place')
      const mode = random.chance(0.5) ? 'publish' : 'import'
      seen.places.add(`${place.field} ${mode}`)
      const known = PUBLISHED_WORN[number]
      if (known !== undefined) {
        assertRefused(known, place, mode)
        seen.published += 1
        continue
      }
      const address = made[number - PUBLISHED_WORN.length] ?? assert.fail('an address')
      const all = [...DISGUISES, ...(/[-+/]/.test(address) ? [] : JOINED_DISGUISES)]
      const [name, dress] = random.pick([all[0] ?? assert.fail('a disguise'), ...all])
      const [around, encode] = random.pick([ENCODINGS[0] ?? assert.fail('an encoding'), ...ENCODINGS])
      const [plain, wrapped] = [dress(address), encode(dress(address))]
      // A text that is too long for its field is refused for that.
      const isTwice = wrapped.length <= place.charsMax && wrapped !== plain && !name.includes('nine')
      const worn = isTwice ? wrapped : plain
      assertRefused({ name: `${name}${isTwice ? around : ''}`, address, worn }, place, mode)
      seen.random += 1
      seen.twice += isTwice ? 1 : 0
    }
    const { published, random: drawn, twice, places } = seen
    const rest = CAMPAIGN.size - PUBLISHED_WORN.length
    const figures = { published, random: drawn, twice, places: places.size }
    const floors = {
      published: PUBLISHED_WORN.length,
      random: rest,
      twice: Math.floor(rest * 0.05),
      places: 10,
    }
    CAMPAIGN.finish(t, figures, floors)
  })
})
