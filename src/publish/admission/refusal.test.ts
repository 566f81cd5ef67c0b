import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type DraftSource, parseDraft } from './grammar.ts'
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

const table: readonly (readonly [
  name: string,
  value: unknown,
  field: string,
  reason: RegExp,
  source?: DraftSource,
])[] = [
  ['an array', [PLAY], 'draft', /must be an object/],
  ['null', null, 'draft', /must be an object/],
  ['an unknown key', { ...PLAY, memo: 'x' }, 'draft', /has an unknown key: known are ref, at, type/],
  ['a key __proto__', JSON.parse('{"__proto__":{"ref":"r"},"type":"play"}'), 'draft', /unknown key/],
  ['a key constructor', { ...PLAY, constructor: {} }, 'draft', /unknown key/],
  ['an inherited ref', Object.create({ ...PLAY }), 'type', /must be one of contest, play/],
  ['no type', { ref: 'r' }, 'type', /must be one of/],
  ['a type that is a name of every object', { ...PLAY, type: 'constructor' }, 'type', /must be one of/],
  ['a kind in capitals', { ...PLAY, kind: 'Entry' }, 'kind', /a-z, 0-9 and _/],
  ['the kind *', { ...PLAY, kind: '*' }, 'kind', /a-z, 0-9 and _/],
  ['a kind of 33 characters', { ...PLAY, kind: 'a'.repeat(33) }, 'kind', /1 to 32/],
  [
    'a reserved kind',
    { ...PLAY, kind: 'refund' },
    'kind',
    /is reserved: choose a kind .* other than refund, loyalty, sponsor, returned$/,
  ],
  ['a kind reserved elsewhere', { ...PAYOUT, kind: 'sponsor' }, 'kind', /other than sponsor, returned$/],
  [
    'an unknown kind of a closed type',
    { ...PLANNED, kind: 'begun' },
    'kind',
    /must be one of scheduled, rescheduled/,
  ],
  ['a correction of a contest', { ...CORRECTION, kind: 'contest' }, 'kind', /must be one of play, pool/],
  ['no ref', { ...PLAY, ref: undefined }, 'ref', /is required/],
  ['an empty ref', { ...PLAY, ref: '' }, 'ref', /1 to 128 characters/],
  ['a ref of 129 characters', { ...PLAY, ref: 'a'.repeat(129) }, 'ref', /1 to 128 characters/],
  ['a number as ref', { ...PLAY, ref: 7 }, 'ref', /must be a string/],
  ['a ref with NUL', { ...PLAY, ref: 'a\0' }, 'ref', /control characters/],
  [
    'a ref with a line separator',
    { ...PLAY, ref: 'a\u2028' },
    'ref',
    /control characters or line separators/,
  ],
  ['a lone surrogate in the ref', { ...PLAY, ref: 'a\ud800' }, 'ref', /surrogate/],
  ['its own moment when it is published', { ...PLAY, at: '2026-10-01' }, 'at', /is only for imports/],
  ['no moment in an import', PLAY, 'at', /is required in an import/, FILE],
  ['30 February', { ...PLAY, at: '2026-02-30' }, 'at', /ISO 8601/, FILE],
  ['an offset', { ...PLAY, at: '2026-02-20T00:00:00+01:00' }, 'at', /ISO 8601/, FILE],
  ['no contest', { ...PLAY, contestId: null }, 'contestId', /is required/],
  ['contest 0', { ...PLAY, contestId: 0 }, 'contestId', /integer from 1 to 9007199254740991/],
  ['contest −0', { ...PLAY, contestId: -0 }, 'contestId', /integer from 1/],
  ['contest 2^53', { ...PLAY, contestId: 2 ** 53 }, 'contestId', /integer from 1/],
  ['contest "7"', { ...PLAY, contestId: '7' }, 'contestId', /integer from 1/],
  ['contest 7.5', { ...PLAY, contestId: 7.5 }, 'contestId', /integer from 1/],
  [
    'a contest in an event that has none',
    { ref: 'r', type: 'burn', kind: 'x', contestId: 7, kots: '1' },
    'contestId',
    /does not belong/,
  ],
  ['no amount', { ...PLAY, kots: undefined }, 'kots', /is required/],
  ['an amount as number', { ...PLAY, kots: 12.5 }, 'kots', /must be a string: a JSON number may lose digits/],
  ['an amount of ten decimals', { ...PLAY, kots: '1.0000000001' }, 'kots', /more than nine decimals/],
  ['an amount of 19 digits', { ...PLAY, kots: '1'.repeat(19) }, 'kots', /more than 18 digits/],
  ['a negative amount', { ...PLAY, kots: '-1' }, 'kots', /must not be negative: only a correction/],
  ['minus zero', { ...PLAY, kots: '-0.000' }, 'kots', /minus zero/],
  ['1e3', { ...PLAY, kots: '1e3' }, 'kots', /plain decimal digits/],
  ['+1', { ...PLAY, kots: '+1' }, 'kots', /plain decimal digits/],
  ['01', { ...PLAY, kots: '01' }, 'kots', /plain decimal digits/],
  ['1.', { ...PLAY, kots: '1.' }, 'kots', /plain decimal digits/],
  ['an amount with a line feed', { ...PLAY, kots: '1\n' }, 'kots', /plain decimal digits/],
  ['an amount where none belongs', { ...PLANNED, kots: '1', details: TIMES }, 'kots', /does not belong/],
  ['a positive correction', { ...CORRECTION, kots: '1' }, 'kots', /opposite sign/],
  ['a payment without transaction', { ...PAYOUT, tx: null }, 'tx', /is required/],
  ['a transaction where none belongs', { ...CORRECTION, tx: TX }, 'tx', /does not belong/],
  [
    'a transaction of another chain',
    { ...PAYOUT, tx: `0x${'ab'.repeat(32)}` },
    'tx',
    /base58 that decodes to 64 bytes/,
  ],
  ['no details where some are required', PLANNED, 'details.opensAt', /is required/],
  ['details as text', { ...PLANNED, details: 'x' }, 'details', /must be an object/],
  [
    'an unknown detail',
    { ...PLAY, details: { memo: 1 } },
    'details',
    /not known here: allowed are count, restates/,
  ],
  [
    'a detail of another type',
    { ...PLAY, details: { title: 'x' } },
    'details',
    /allowed are count, restates/,
  ],
  ['a detail __proto__', { ...PLAY, details: JSON.parse('{"__proto__":1}') }, 'details', /not known here/],
  [
    'a pair of fields that differ',
    { ...PLANNED, details: { ...TIMES, opensAtMs: 1 } },
    'details.opensAtMs',
    /same moment as opensAt/,
  ],
  [
    'only one field of a pair',
    { ...PLANNED, details: { opensAtMs: 0, closesAt: 1e12 } },
    'details.opensAtMs',
    /without opensAt/,
  ],
  ['the Ms of what is no moment', { ...PLAY, details: { countMs: 1 } }, 'details', /not known here/],
  [
    'a contest that closes as it opens',
    { ...PLANNED, details: { opensAt: 0, closesAt: 0 } },
    'details.closesAt',
    /after opensAt/,
  ],
  [
    'seconds for milliseconds',
    { ...PLANNED, details: { ...TIMES, opensAt: 1_790_000_000 } },
    'details.opensAt',
    /did you mean milliseconds/,
  ],
  [
    'a moment that is a fraction',
    { ...PLANNED, details: { ...TIMES, opensAt: 1e12 + 0.5 } },
    'details.opensAt',
    /ISO 8601/,
  ],
  ['an empty title', { ...PLANNED, details: { ...TIMES, title: '' } }, 'details.title', /1 to 200/],
  [
    'a title with a line feed',
    { ...PLANNED, details: { ...TIMES, title: 'a\nb' } },
    'details.title',
    /control/,
  ],
  ['no plays', { ...PLAY, details: { count: 0 } }, 'details.count', /from 1 to 1000000000/],
  ['too many plays', { ...PLAY, details: { count: 1e9 + 1 } }, 'details.count', /from 1 to 1000000000/],
  [
    'a claim "yes"',
    { ref: 'r', type: 'prize', kind: 'x', contestId: 1, kots: '1', details: { claim: 'yes' } },
    'details.claim',
    /true or false/,
  ],
  [
    '−0 winners',
    { ref: 'r', type: 'prize', kind: 'x', contestId: 1, kots: '1', details: { winners: -0 } },
    'details.winners',
    /integer from 0/,
  ],
  ['month 13', { ...INPUT, details: { month: '2026-13', digest: DIGEST } }, 'details.month', /month such as/],
  [
    'a digest in capitals',
    { ...INPUT, details: { month: '2026-10', digest: DIGEST.toUpperCase() } },
    'details.digest',
    /sha256:/,
  ],
  [
    'javascript: as URL',
    { ...INPUT, details: { month: '2026-10', digest: DIGEST, url: 'javascript:alert(1)' } },
    'details.url',
    /http/,
  ],
  [
    'a URL with a blank',
    { ...INPUT, details: { month: '2026-10', digest: DIGEST, url: 'https://a.example/ b' } },
    'details.url',
    /http/,
  ],
  [
    'a URL without a host',
    { ...INPUT, details: { month: '2026-10', digest: DIGEST, url: 'https://' } },
    'details.url',
    /http/,
  ],
  [
    'a price as number',
    { ref: 'r', type: 'price', kind: 'usd', details: { price: 1.5 } },
    'details.price',
    /must be a string/,
  ],
  [
    'a negative price',
    { ref: 'r', type: 'price', kind: 'usd', details: { price: '-1' } },
    'details.price',
    /must be a string/,
  ],
  ['a correction of nothing', { ...CORRECTION, details: {} }, 'details.corrects', /is required/],
  [
    'a correction that restates',
    { ...CORRECTION, details: { corrects: 1, restates: 2 } },
    'details',
    /allowed are corrects, reason/,
  ],
]

suite('a draft is refused', () => {
  for (const [name, value, field, reason, source] of table) {
    test(`with ${name}`, () => {
      const outcome = refused(value, source)
      assert.equal(outcome.field, field)
      assert.match(outcome.reason, reason)
      assert.equal(outcome.code, 'invalid-draft')
    })
  }

  const reason = { ref: 'r', type: 'contest', kind: 'cancelled', contestId: 7 }
  const holding: readonly (readonly [name: string, value: unknown, field: string, source?: DraftSource])[] = [
    ['type', { ...PLAY, type: ADDRESS }, 'type'],
    ['kind', { ...PLAY, kind: ADDRESS }, 'kind'],
    ['kind that is a word', { ...PLAY, kind: 'bc1pfeessrawgf' }, 'kind'],
    ['contestId', { ...PLAY, contestId: ADDRESS }, 'contestId'],
    ['kots', { ...PLAY, kots: ADDRESS }, 'kots'],
    ['tx of solana', { ...PAYOUT, tx: ADDRESS }, 'tx'],
    ['tx of evm', { ...PAYOUT, tx: `0x${'ab'.repeat(20)}` }, 'tx', { chain: 'evm', mode: 'publish' }],
    ['opaque tx', { ...PAYOUT, tx: `from:0x${'ab'.repeat(20)}` }, 'tx', OPAQUE],
    ['title', { ...PLANNED, details: { ...TIMES, title: `Prize of ${ADDRESS}` } }, 'details.title'],
    ['reason', { ...reason, details: { reason: `see ${ADDRESS}` } }, 'details.reason'],
    [
      'url',
      { ...INPUT, details: { month: '2026-10', digest: DIGEST, url: `https://a.example/${ADDRESS}` } },
      'details.url',
    ],
    ['digest', { ...INPUT, details: { month: '2026-10', digest: ADDRESS } }, 'details.digest'],
    ['month', { ...INPUT, details: { month: ADDRESS, digest: DIGEST } }, 'details.month'],
    ['name of a key', { ...PLAY, [ADDRESS]: 1 }, 'draft'],
    ['name of a detail', { ...PLAY, details: { [ADDRESS]: 1 } }, 'details'],
  ]
  for (const [name, value, field, source] of holding) {
    test(`with a wallet address in its ${name}, and as that`, () =>
      assert.deepEqual(refused(value, source), {
        ok: false,
        field,
        reason: 'holds what looks like a wallet address',
        code: 'address-forbidden',
      }))
  }

  test('with an opaque tx only if `0x` or a checksum proves an address: on some chains a transaction has 32 bytes', () =>
    assert.ok(parseDraft({ ...PAYOUT, tx: ADDRESS }, OPAQUE).ok))

  for (const control of ['\u202a', '\u202e', '\u2066', '\u2069']) {
    const point = control.codePointAt(0)?.toString(16) ?? ''
    test(`with U+${point} in its title, which changes the direction of text beside it`, () => {
      const title = `Autumn${control} round`
      const outcome = refused({ ...PLANNED, details: { ...TIMES, title } })
      assert.equal(outcome.field, 'details.title')
      assert.match(outcome.reason, /bidirectional control characters/)
    })
  }

  for (const [chars, code] of [
    [4_096, 'address-forbidden'],
    [4_097, 'invalid-draft'],
  ] as const) {
    test(`as ${code} with ${chars} characters that end with a wallet address`, () => {
      const title = ADDRESS.padStart(chars, 'so ')
      assert.equal(refused({ ...PLANNED, details: { ...TIMES, title } }).code, code)
    })
  }

  test('but not for an address in its ref, which is never published', () =>
    assert.ok(parseDraft({ ...PLAY, ref: ADDRESS }, PUBLISHING).ok))
})
