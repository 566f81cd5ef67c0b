import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { auditOf, RICH_LOG, findingLines } from '../../test/stage/audit-stage.ts'
import { type Change, checkpointOver, publicLog } from '../../test/story/public-log.ts'
import { monthOf } from '../protocol/moment.ts'
import { isVerified } from './report.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 25)
const log = publicLog(RICH_LOG)
const months = [...new Set(RICH_LOG.map(({ event }) => monthOf(event.atMs)))]
const [closed = '', open = ''] = [months[0], months.at(-1)]
const text = (body: Uint8Array | undefined): string => Buffer.from(body ?? []).toString()
const linesIn = (file: Uint8Array | undefined): string[] =>
  gunzipSync(file ?? new Uint8Array(0))
    .toString()
    .split('\n')
    .slice(0, -1)
const packed = (lines: readonly string[]): Uint8Array => gzipSync(lines.map((line) => `${line}\n`).join(''))

/** Open month with other lines. It has no digests, so the fault must be found in the lines. */
const withLines =
  (file: string, change: (lines: string[]) => readonly string[]): Change =>
  (path, body) =>
    path === `archive/${file}.jsonl.gz` ? packed(change(linesIn(body))) : body

const edited =
  (edit: (line: string) => string) =>
  (lines: string[]): readonly string[] =>
    lines.map((line, index) => (index === 1 ? edit(line) : line))

/** Attacks, each with the finding that it must give. */
const ATTACKS: readonly (readonly [what: string, change: Change, says: RegExp])[] = [
  [
    'swaps two events',
    withLines(open, ([a = '', b = '', ...rest]) => [b, a, ...rest]),
    /^log \| seq \d+: is missing: seq \d+ is in its place$/,
  ],
  [
    'leaves an event out',
    withLines(open, ([, ...rest]) => rest),
    /^log \| seq \d+: is missing: seq \d+ is in its place$/,
  ],
  [
    'repeats an event',
    withLines(open, ([a = '', ...rest]) => [a, a, ...rest]),
    /^log \| seq \d+: seq \d+ is in its place$/,
  ],
  [
    'changes an amount',
    withLines(open, (lines) => lines.map((line) => line.replace(/"kots":"(?!0\.)\d/, '"kots":"9'))),
    /^root \| log\/checkpoint: its root is not that of the \d+ events: seq \d+ differs from the signed one$/,
  ],
  [
    'changes a kind',
    withLines(open, (lines) => lines.map((line) => line.replace(/"kind":"/, '"kind":"z'))),
    /^(?:root \| log\/checkpoint: its root is not that of the \d+ events.*|log \| seq \d+: cannot be posted.*)$/,
  ],
  [
    'adds a ninth key',
    withLines(
      open,
      edited((line) => line.replace(/}$/, ',"player":1}')),
    ),
    /^log \| seq \d+: the line does not have exactly the eight keys in order$/,
  ],
  [
    'orders the keys otherwise',
    withLines(
      open,
      edited((line) => line.replace(/^\{("seq":\d+),("type":"[a-z]+")/, '{$2,$1')),
    ),
    /^log \| seq \d+: the line does not have exactly the eight keys in order$/,
  ],
  [
    'writes a space',
    withLines(
      open,
      edited((line) => line.replace(',', ', ')),
    ),
    /^log \| seq \d+: the line is not a JSON object without spaces$/,
  ],
  [
    'writes `at` for another moment than `atMs`',
    withLines(
      open,
      edited((line) => line.replace(/\.\d{3}Z"/, '.777Z"')),
    ),
    /^log \| seq \d+: `at` is not `atMs`/,
  ],
  [
    'leaves out the details of an event',
    withLines(`${open}.details`, ([, ...rest]) => rest),
    /^(?:root \| |log \| seq \d+: cannot be posted)/,
  ],
  [
    'gives details to an event of another seq',
    withLines(`${open}.details`, (lines) =>
      lines.map((line, index) => (index === 0 ? line.replace(/"seq":\d+/, '"seq":1') : line)),
    ),
    /^log \| the details of seq 1: belong to no event of this month$/,
  ],
  [
    'ends a file early',
    (path, body) => (path === `archive/${open}.jsonl.gz` ? body?.subarray(0, -9) : body),
    /^archive \| archive\/.*: is not a complete gzip file$/,
  ],
  [
    'takes a month away',
    (path, body) => (path === 'archive' ? Buffer.from(text(body).replace(/\[\{[^{}]*\},/, '[')) : body),
    /^(?:archive|log) \| /,
  ],
]

suite('an attack is found when a service', () => {
  for (const [what, change, says] of ATTACKS) {
    test(what, async () => {
      const found = await auditOf(log, change)
      assert.ok(!isVerified(found))
      assert.match(findingLines(found).join('\n'), new RegExp(says.source, 'm'))
    })
  }

  test('flips any byte of any file of the archive or of the log', async () => {
    const paths = ['archive', 'archive/SHA256SUMS', 'log/checkpoint']
    for (const month of months.slice(0, 2)) {
      paths.push(`archive/${month}.jsonl.gz`, `archive/${month}.details.jsonl.gz`, `archive/${month}.json`)
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.nat(),
        fc.integer({ min: 0, max: 7 }),
        async (path, at, bit) => {
          const found = await auditOf(log, (asked, body) => {
            if (asked !== path || body === undefined) return body
            const copy = Uint8Array.from(body)
            const index = at % copy.length
            copy[index] = (copy[index] ?? 0) ^ (1 << bit)
            return copy
          })
          assert.ok(!isVerified(found), `bit ${bit} of byte ${at % (log.body(path)?.length ?? 1)} of ${path}`)
        },
      ),
      { numRuns: RUNS },
    )
  })

  test('changes a digest in a manifest', async () => {
    for (const field of ['gzip', 'lines', 'details']) {
      const found = await auditOf(log, (path, body) => {
        if (path !== `archive/${closed}.json`) return body
        const manifest = JSON.parse(text(body))
        manifest[field].sha256 = '0'.repeat(64)
        return Buffer.from(JSON.stringify(manifest))
      })
      assert.match(findingLines(found).join('\n'), /^archive \| archive/, field)
    }
  })

  test('changes the root of a month; the finding names the month', async () => {
    const found = await auditOf(log, (path, body) => {
      if (path !== `archive/${closed}.json`) return body
      const manifest = JSON.parse(text(body))
      manifest.root = Buffer.alloc(32).toString('base64')
      return Buffer.from(JSON.stringify(manifest))
    })
    const place = `archive \\| archive/${closed}.json: its root is not that of the first \\d+ events`
    assert.match(findingLines(found).join('\n'), new RegExp(place))
  })

  test('serves a page of events with other details than the archive', async () => {
    const found = await auditOf(log, (path, body) =>
      path.startsWith('events?after')
        ? Buffer.from(text(body).replace(/("details":\{"\d+":\{)/, '$1"winners":9,'))
        : body,
    )
    assert.match(findingLines(found).join('\n'), /&details=1: the details of seq \d+ differ from the archive/)
  })

  test('serves an event that is nested deeper than it can be written again', async () => {
    const deep = `{"0":`.repeat(100_000) + '1' + '}'.repeat(100_000)
    const change: Change = (path, body) =>
      path.startsWith('events?') ? Buffer.from(text(body).replace('{"seq"', `{"x":${deep},"seq"`)) : body
    assert.match(findingLines(await auditOf(log, change)).join('\n'), /^events \| .*: is nested too deep$/m)
  })

  test('answers with more events than it has signed', async () => {
    const fewer = RICH_LOG.slice(0, -1)
    const found = await auditOf(log, (path, body) =>
      path === 'log/checkpoint' ? Buffer.from(checkpointOver(fewer, fewer.length, log.key)) : body,
    )
    assert.match(findingLines(found).join('\n'), /consistency \| log\/checkpoint: ROLLBACK/)
  })
})

test('an archive that is behind the checkpoint is completed event by event', async () => {
  const asked: string[] = []
  const change: Change = (path, body) => {
    asked.push(path)
    if (path !== `archive/${open}.jsonl.gz`) return body
    return packed(linesIn(body).slice(0, -2))
  }
  const found = await auditOf(log, change)
  assert.deepEqual(findingLines(found), [])
  assert.ok(asked.includes(`events/${RICH_LOG.length}/details`))
})
