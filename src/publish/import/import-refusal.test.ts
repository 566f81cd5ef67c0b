import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { after, before as beforeAll, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  type ImportStage,
  jsonl,
  type Line,
  NOW_MS,
  openImportStage,
  opening,
  plays,
} from '../../../test/stage/import-stage.ts'
import { DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { formatAt, msOf } from '../../protocol/moment.ts'

const GOOD = jsonl(opening())
const at = '2026-01-03T00:00:00.000Z'
/** A file whose fifth line is at fault. */
const fifth = (line: Line): string => `${GOOD}${JSON.stringify(line)}\n${jsonl(plays(2, 90_000))}`
const gzipped = gzipSync(jsonl([...opening(), ...plays(500)]))
// A wallet address that nobody owns: 32 equal bytes.
const ADDRESS = '0x' + 'ab'.repeat(20)

type Row = readonly [
  name: string,
  content: string | Uint8Array,
  line: number | null,
  field: string | null,
  reason: RegExp,
]

/** Faults of files, and some of drafts: other tests have the rules of the grammar and of the books. */
const ROWS: readonly Row[] = [
  ['what is not JSON', `${GOOD}{"ref":"x",\n`, 5, 'draft', /^is not JSON/],
  ['an unknown type', fifth({ at, type: 'gift', kind: 'x' }), 5, 'type', /must be one of/],
  ['a missing moment', fifth({ type: 'treasury', kind: 'deposit', kots: '1' }), 5, 'at', /is required/],
  [
    'an address',
    fifth({ at, type: 'contest', kind: 'cancelled', contestId: 1, details: { reason: `to ${ADDRESS}` } }),
    5,
    'details.reason',
    /wallet address/,
  ],
  [
    'a contest that was never scheduled',
    fifth({ at, type: 'play', kind: 'vote', contestId: 2, kots: '1' }),
    5,
    'contestId',
    /never scheduled/,
  ],
  [
    'more than an account has',
    fifth({ at, type: 'burn', kind: 'platform_income', kots: '101.6' }),
    5,
    'kots',
    /treasury holds 101\.500000000/,
  ],
  [
    'a correction of no event',
    fifth({ at, type: 'correction', kind: 'play', contestId: 1, kots: '-1', details: { corrects: 9 } }),
    5,
    'details.corrects',
    /no event has this seq/,
  ],
  [
    'a moment before that of the previous line',
    fifth({ at: '2025-12-31', type: 'treasury', kind: 'deposit', kots: '1' }),
    5,
    'at',
    /before that of the last event, 5/,
  ],
  [
    'a moment after now',
    fifth({ at: formatAt(msOf(NOW_MS + 1)), type: 'treasury', kind: 'deposit', kots: '1' }),
    5,
    'at',
    /later than now/,
  ],
  [
    'a ref with another content',
    fifth({ ref: 'a4', at, type: 'play', kind: 'entry', contestId: 1, kots: '2' }),
    5,
    'ref',
    /other content/,
  ],
  [
    'a line too long',
    fifth({ at, type: 'x'.repeat(DRAFT_LINE_BYTES_MAX) }),
    5,
    'draft',
    /longer than 65536 bytes/,
  ],
  ['a line without end', `${GOOD}${'['.repeat(2_000_000)}`, 5, null, /longer than 65536 bytes/],
  [
    'a line that is not UTF-8',
    Buffer.concat([Buffer.from(GOOD), Buffer.from([0x7b, 0xff, 0x0a])]),
    5,
    null,
    /^is not UTF-8/,
  ],
  [
    'a last line that is not UTF-8',
    Buffer.concat([Buffer.from(GOOD), Buffer.from([0x22, 0xc3])]),
    5,
    null,
    /^is not UTF-8/,
  ],
  ['UTF-16', Buffer.from(`\uFEFF${GOOD}`, 'utf16le'), 1, null, /^is not UTF-8/],
  ['a last line cut off', GOOD.slice(0, -5), 4, 'draft', /^is not JSON/],
  ['gzip data that ends too early', gzipped.subarray(0, -20), null, null, /cut off/],
  ['gzip data without its trailer', gzipped.subarray(0, -8), null, null, /cut off/],
  ['damaged gzip data', damaged(gzipped), null, null, /not valid gzip data/],
  [
    'gzip data with trailing bytes',
    Buffer.concat([gzipped, Buffer.from(GOOD)]),
    null,
    null,
    /not valid gzip data/,
  ],
  [
    'a wrong line in gzip data',
    gzipSync(fifth({ at, type: 'gift', kind: 'x' })),
    5,
    'type',
    /must be one of/,
  ],
]

function damaged(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy.set([0xff, 0xff, 0xff, 0xff], copy.length - 8)
  return copy
}

suite('an import refuses, and changes nothing for', () => {
  // One log for the whole table, because no row may change it.
  let stage: ImportStage
  let before: Readonly<Record<string, string>>
  beforeAll(async () => {
    stage = await openImportStage()
    await stage.begin([{ at: '2025-12-01', type: 'price', kind: 'usd', details: { price: '0.1' } }])
    before = stage.contents()
  })
  after(() => stage[Symbol.asyncDispose]())

  for (const [name, content, line, field, reason] of ROWS) {
    test(name, async () => {
      const file = stage.file('broken.jsonl', content)
      const outcome = await stage.import([file])
      assert.ok(!outcome.ok)
      assert.equal(outcome.file, file)
      // The line of broken gzip data depends on how much of it could be unpacked.
      if (line === null) assert.ok(outcome.line !== null && outcome.line >= 1)
      else assert.equal(outcome.line, line)
      assert.equal(outcome.field, field)
      assert.match(outcome.reason, reason)
      assert.doesNotMatch(outcome.reason, /0xab|gift|amount|xxx/)
      assert.deepEqual(stage.contents(), before)
    })
  }
})

suite('a refusal', () => {
  test('names the file at fault among several, and its own line', async () => {
    await using stage = await openImportStage()
    const first = stage.file('first.jsonl', GOOD)
    const second = stage.file('second.jsonl', `\n${jsonl(plays(1))}\n{}\n`)
    const outcome = await stage.import([first, second])
    assert.deepEqual(outcome, {
      ok: false,
      file: second,
      line: 4,
      field: 'type',
      reason: outcome.ok ? '' : outcome.reason,
    })
  })

  test('is of the first fault, whether the grammar or the books find it', async () => {
    await using stage = await openImportStage()
    const lines = [...opening(), { at, type: 'play', kind: 'vote', contestId: 9, kots: '1' }, { at: 'x' }]
    const outcome = await stage.import([stage.file('two.jsonl', jsonl(lines))])
    assert.ok(!outcome.ok)
    assert.deepEqual([outcome.line, outcome.field], [5, 'contestId'])
  })

  test('names the head when a moment is before it', async () => {
    await using stage = await openImportStage()
    await stage.begin([...opening(), ...plays(2)])
    const outcome = await stage.import([
      stage.file('old.jsonl', jsonl([{ at: '2026-01-01', type: 'treasury', kind: 'deposit', kots: '1' }])),
    ])
    assert.ok(!outcome.ok)
    assert.deepEqual([outcome.line, outcome.field], [1, 'at'])
    assert.match(outcome.reason, /last event, 6/)
  })

  test('names the field of a ref that the log has with other content', async () => {
    await using stage = await openImportStage()
    await stage.begin([...opening(), ...plays(2)])
    const changed = plays(1).map((line) => ({ ...line, kots: '7' }))
    const outcome = await stage.import([stage.file('changed.jsonl', jsonl(changed))])
    assert.ok(!outcome.ok)
    assert.deepEqual([outcome.line, outcome.field, outcome.reason], [1, 'ref', 'was used for other content'])
  })

  test('names its line far behind the start of a long file too', async () => {
    await using stage = await openImportStage()
    const lines = [...opening(), ...plays(5_000), ...plays(1).map((line) => ({ ...line, kots: '7' }))]
    const outcome = await stage.import([stage.file('long.jsonl', jsonl(lines))])
    assert.ok(!outcome.ok)
    assert.deepEqual([outcome.line, outcome.field], [5_005, 'ref'])
    assert.deepEqual(Object.keys(stage.contents()), ['lock'])
  })

  test('comes before anything is written when a file does not exist', async () => {
    await using stage = await openImportStage()
    rmSync(stage.data, { recursive: true, force: true })
    const outcome = await stage.import([`${stage.data}/none.jsonl`])
    assert.ok(!outcome.ok)
    assert.deepEqual([outcome.line, outcome.field, outcome.reason], [null, null, 'does not exist'])
    assert.equal(existsSync(stage.data), false)
  })

  test('refuses a directory', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const outcome = await stage.import([stage.data])
    assert.ok(!outcome.ok)
    assert.equal(outcome.reason, 'is a directory')
  })
})
