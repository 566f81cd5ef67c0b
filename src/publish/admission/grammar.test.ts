import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { formatDetailsLine } from '../../protocol/details.ts'
import { DETAILS_LINE_BYTES_MAX, type Draft, TITLE_CHARS_MAX, URL_CHARS_MAX } from '../../protocol/draft.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import { seqOf } from '../../protocol/seq.ts'
import { DRAFT_DIGEST_BYTES, draftDigest, type DraftSource, parseDraft } from './grammar.ts'
import {
  PUBLISHING,
  OPAQUE,
  FILE,
  TX,
  ADDRESS,
  DIGEST,
  PLAY,
  PLANNED,
  TIMES,
  PAYOUT,
  INPUT,
  CORRECTION,
  refused,
} from '../../../test/story/draft-examples.ts'

function accepted(value: unknown, source: DraftSource = PUBLISHING): Draft {
  const outcome = parseDraft(value, source)
  assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.field} ${outcome.reason}`)
  return outcome.draft
}

suite('a draft', () => {
  test('is read with its amount in billionths, and null for absent fields', () => {
    assert.deepEqual(accepted(PLAY), {
      ref: 'r1',
      atMs: null,
      type: 'play',
      kind: 'entry',
      contestId: 7,
      kots: 12_500_000_000n,
      tx: null,
      details: null,
    })
  })

  test('may have null for absent fields', () => {
    const price = {
      ref: 'r',
      type: 'price',
      kind: 'usd',
      contestId: null,
      kots: null,
      tx: null,
      details: { price: '0.5' },
    }
    assert.deepEqual(accepted(price).details, { price: 500_000_000_000n })
    assert.equal(accepted({ ...PLAY, tx: null, details: null }).details, null)
    assert.equal(accepted({ ...PLAY, details: {} }).details, null)
  })

  test('may write a moment as ISO, as milliseconds, or as the pair that readers see', () => {
    const opensAt = Date.UTC(2026, 9, 1)
    const closesAt = Date.UTC(2026, 10, 1, 12)
    const forms = [
      TIMES,
      { opensAt, closesAt },
      { ...TIMES, opensAtMs: opensAt, closesAtMs: closesAt },
      { opensAt, opensAtMs: opensAt, closesAt },
    ]
    for (const details of forms)
      assert.deepEqual(accepted({ ...PLANNED, details }).details, { opensAt, closesAt })
  })

  test('has its moment in an import, and needs no ref there', () => {
    const { ref: _, ...play } = PLAY
    const draft = accepted({ ...play, at: '2023-11-07T13:34:29.249Z' }, FILE)
    assert.equal(draft.ref, null)
    assert.equal(draft.atMs, Date.UTC(2023, 10, 7, 13, 34, 29, 249))
  })

  test('names a transaction in the form of its chain', () => {
    assert.equal(accepted(PAYOUT).tx, TX)
    const hash = `0x${'ab'.repeat(32)}`
    assert.equal(accepted({ ...PAYOUT, tx: hash }, { chain: 'evm', mode: 'publish' }).tx, hash)
    for (const tx of [hash, TX, 'ab'.repeat(32), 'batch:42-a_b'])
      assert.equal(accepted({ ...PAYOUT, tx }, OPAQUE).tx, tx)
  })

  test('names no wallet address as a transaction of an opaque chain', () => {
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    for (const tx of [address, `pay:${address}`])
      assert.equal(refused({ ...PAYOUT, tx }, OPAQUE).code, 'address-forbidden')
  })

  test('names no wallet address that zeros pad to a transaction or a digest', () => {
    const word = `${'0'.repeat(24)}5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed`
    for (const chain of ['evm', 'opaque'] as const)
      assert.equal(
        refused({ ...PAYOUT, tx: `0x${word}` }, { chain, mode: 'publish' }).code,
        'address-forbidden',
      )
    const details = { month: '2026-10', digest: `sha256:${word.toLowerCase()}` }
    assert.equal(refused({ ...INPUT, details }).code, 'address-forbidden')
  })

  test('may leave out contest and amount when it corrects an event without them', () => {
    assert.equal(accepted(CORRECTION).kots, -12_500_000_000n)
    const { kots: _, contestId: __, ...bare } = CORRECTION
    assert.deepEqual(accepted(bare).details, { corrects: 3 })
  })

  test('that renames a contest has a title, and a reason if there is one, both guarded', () => {
    const renamed = { ref: 'r', type: 'contest', kind: 'renamed', contestId: 7 }
    assert.deepEqual(accepted({ ...renamed, details: { title: 'New', reason: 'A typo' } }).details, {
      title: 'New',
      reason: 'A typo',
    })
    assert.equal(refused({ ...renamed, details: { reason: 'A typo' } }).field, 'details.title')
    for (const field of ['title', 'reason']) {
      const outcome = refused({ ...renamed, details: { title: 'New', [field]: `to ${ADDRESS}` } })
      assert.deepEqual([outcome.code, outcome.field], ['address-forbidden', `details.${field}`])
    }
  })

  test('has limits in characters, not in UTF-16 units', () => {
    accepted({ ...PLANNED, details: { ...TIMES, title: '🏆'.repeat(TITLE_CHARS_MAX) } })
    assert.equal(
      refused({ ...PLANNED, details: { ...TIMES, title: '🏆'.repeat(TITLE_CHARS_MAX + 1) } }).field,
      'details.title',
    )
  })
})

/** Characters that show nothing, by what Unicode says of them. */
const BLANK =
  /\p{White_Space}|\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Cc}|\p{M}|[\u2800\u{1d159}\u{13441}\u{13442}]/u

suite('a text for people', () => {
  const fieldsOf = (text: string): readonly (readonly [field: string, draft: unknown])[] => [
    ['details.title', { ...PLANNED, details: { ...TIMES, title: text } }],
    [
      'details.reason',
      { ref: 'r', type: 'contest', kind: 'cancelled', contestId: 7, details: { reason: text } },
    ],
  ]

  test('is refused when it shows nothing: blanks, invisible and blank letters, marks alone', () => {
    const seen = { refused: 0, accepted: 0 }
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const character = String.fromCodePoint(code)
      // Unassigned code points are drawn as a box.
      if (/\p{Co}/u.test(character) || (/\p{Cn}/u.test(character) && !BLANK.test(character))) continue
      for (const [field, draft] of fieldsOf(`${character} ${character}`)) {
        const outcome = parseDraft(draft, PUBLISHING)
        assert.equal(outcome.ok, !BLANK.test(character), `${field} U+${code.toString(16)}`)
        if (!outcome.ok) assert.equal(outcome.field, field)
        seen[outcome.ok ? 'accepted' : 'refused'] += 1
      }
    }
    assert.ok(seen.refused > 10_000 && seen.accepted > 200_000, JSON.stringify(seen))
  })

  test('may have invisible characters beside what it shows', () => {
    for (const text of ['\u200bA', 'Photo\u00adgraphy', '👩\u200d🎨', '❤\ufe0f', '\u3164.', 'e\u0301', '—'])
      for (const [, draft] of fieldsOf(text)) accepted(draft)
  })
})

const strange = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(-0, 1e308, 2 ** 53, ADDRESS, TX, '1', '', '\ud800', {}, []),
)
const keys = fc.constantFrom(
  'ref',
  'at',
  'type',
  'kind',
  'contestId',
  'kots',
  'tx',
  'details',
  '__proto__',
  'toString',
)
const types = fc
  .constantFrom(...RULES)
  .map(({ type, kind }) => ({ type, kind: kind === '*' ? 'word' : kind }))
const sources = fc.constantFrom(PUBLISHING, OPAQUE, FILE)

suite('the grammar of drafts', () => {
  test('is total: any JSON gives a draft or a refusal', () => {
    const mutated = fc
      .tuple(types, fc.dictionary(keys, strange))
      .map(([rule, rest]) => ({ ref: 'r', contestId: 1, kots: '1', tx: TX, ...rule, ...rest }))
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), mutated), sources, (value, source) => {
        const outcome = parseDraft(JSON.parse(JSON.stringify(value)), source)
        return outcome.ok || (outcome.reason.length > 0 && outcome.field.length > 0)
      }),
      { numRuns: 5_000 },
    )
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })

  test('repeats nothing of what it refuses', () => {
    // Every text field gets letters that no reason contains.
    const marker = fc.string({ unit: fc.constantFrom('Q', 'Z', 'X', 'J'), minLength: 3, maxLength: 60 })
    const places = fc.constantFrom(
      'ref',
      'type',
      'kind',
      'kots',
      'tx',
      'at',
      'details',
      'title',
      'digest',
      'opensAt',
      'KEY',
      'DETAIL',
    )
    fc.assert(
      fc.property(marker, places, types, sources, (text, place, rule, source) => {
        const details: Record<string, unknown> = {
          month: '2026-10',
          [place === 'DETAIL' ? text : place]: text,
        }
        const draft = {
          ...rule,
          [place === 'KEY' ? text : place]: text,
          ...(place !== 'details' && { details }),
        }
        const outcome = parseDraft(draft, source)
        return outcome.ok || !/[QZXJ]{3}/.test(outcome.reason + outcome.field)
      }),
      { numRuns: 5_000 },
    )
  })

  test('has rules for every type of the log', () => {
    for (const type of EVENT_TYPES)
      assert.match(refused({ ref: 'r', type: '' }).reason, new RegExp(`\\b${type}\\b`))
  })

  test('keeps every details line within the limit that readers are promised', () => {
    const url = `https://a.example/${'é'.repeat(URL_CHARS_MAX - 18)}`
    const longest = accepted({
      ...INPUT,
      details: { month: '2026-10', digest: DIGEST, bytes: 2 ** 53 - 1, url, restates: 2 ** 53 - 1 },
    })
    const wide = accepted({
      ...PLANNED,
      details: { ...TIMES, title: '🏆'.repeat(TITLE_CHARS_MAX), restates: 1 },
    })
    for (const { details } of [longest, wide])
      assert.ok(Buffer.byteLength(formatDetailsLine(seqOf(2 ** 53 - 1), details)) <= DETAILS_LINE_BYTES_MAX)
  })
})

suite('a draft’s digest', () => {
  const digest = (value: unknown, source = PUBLISHING) =>
    Buffer.from(draftDigest(accepted(value, source))).toString('hex')

  test('is the same for two spellings of one content with any ref and moment', () => {
    assert.equal(digest(PLAY), digest({ tx: null, details: {}, ...PLAY, kots: '12.500000000', ref: 'other' }))
    const { opensAt, closesAt } = TIMES
    const again = { closesAt, title: 'x', opensAtMs: Date.parse(opensAt), opensAt }
    assert.equal(
      digest({ ...PLANNED, details: { title: 'x', ...TIMES } }),
      digest({ ...PLANNED, details: again }),
    )
    assert.equal(digest(PLAY, OPAQUE), digest({ ...PLAY, at: '2026-10-01' }, FILE))
    assert.equal(draftDigest(accepted(PLAY)).length, DRAFT_DIGEST_BYTES)
  })

  test('differs for any other content', () => {
    const contents = [
      PLAY,
      { ...PLAY, kind: 'vote' },
      { ...PLAY, contestId: 8 },
      { ...PLAY, kots: '12.6' },
      { ...PLAY, tx: TX },
      { ...PLAY, details: { count: 2 } },
      { ...PLAY, type: 'prize' },
    ]
    assert.equal(new Set(contents.map((each) => digest(each))).size, contents.length)
  })
})
