import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines } from '../../test/stage/audit-stage.ts'
import { paidLog } from '../../test/story/paid-log.ts'
import { type Change, type PublicLog, publicLog } from '../../test/story/public-log.ts'

/** A log of this many events, and one more before them. */
function logOf(size: number): PublicLog {
  const payments = Array.from({ length: Math.max(0, size - 7) }, (_, n) => ({ tx: `tx-${n}`, tokens: 1 }))
  return publicLog(paidLog(payments).slice(0, size))
}

/** Paths of samples that an audit asks for, and its findings. */
async function sampled(
  log: PublicLog,
  chance = 0.37,
  change: Change = (_, body) => body,
): Promise<Readonly<{ paths: readonly string[]; found: readonly string[]; says: string }>> {
  const paths: string[] = []
  const audit = await auditOf(
    log,
    (path, body) => {
      if (/^events\?(?:order|after)|^events\/\d+$|^log\/proof/.test(path)) paths.push(path)
      return change(path, body)
    },
    { chance: () => chance },
  )
  const { says = '' } = audit.checks.find(({ name }) => name === 'events') ?? {}
  return { paths, found: findingLines(audit), says }
}

suite('the sampled lines of a log', () => {
  test('are the newest page, three random pages with details, an event and a receipt', async () => {
    const { paths, says } = await sampled(logOf(250))
    assert.deepEqual(paths, [
      'events?order=desc&limit=100',
      ...['55', '55', '55'].map((after) => `events?after=${after}&limit=100&details=1`),
      'events/93',
      'log/proof/93',
    ])
    assert.match(says, /^5 sampled pages have the lines of the archive/)
  })

  test('are within the log, wherever the chance falls', async () => {
    const table: readonly (readonly [size: number, chance: number, after: number, seq: number])[] = [
      [1, 0, 0, 1],
      [1, 0.999, 0, 1],
      [99, 0.999, 0, 99],
      [100, 0.999, 0, 100],
      [101, 0.999, 1, 101],
      [102, 0.5, 1, 52],
      [250, 0.999, 150, 250],
    ]
    for (const [size, chance, after, seq] of table) {
      const { paths, found } = await sampled(logOf(size), chance)
      assert.deepEqual(found, [], `${size} events, chance ${chance}`)
      assert.deepEqual(paths.slice(-3), [
        `events?after=${after}&limit=100&details=1`,
        `events/${seq}`,
        `log/proof/${seq}`,
      ])
    }
  })

  test('are none of a log without events', async () => {
    const { paths, found } = await sampled(logOf(0))
    assert.deepEqual([paths, found], [[], []])
  })

  const log = logOf(150)
  const parsed = (body: Uint8Array | undefined): { events: Record<string, unknown>[]; details?: object } =>
    JSON.parse(Buffer.from(body ?? []).toString())
  const editing =
    (at: RegExp, edit: (json: ReturnType<typeof parsed>) => unknown): Change =>
    (path, body) =>
      at.test(path) ? Buffer.from(JSON.stringify(edit(parsed(body)))) : body
  const NEWEST = /^events\?order/
  const RANDOM = /^events\?after/
  const oldest = parsed(log.body('events?after=0&limit=100')).events.toReversed()
  const table: readonly (readonly [what: string, change: Change, says: RegExp])[] = [
    ['lack their events', editing(NEWEST, () => ({})), /^events \| events\?order=.*: lacks its events$/],
    [
      'are fewer than a page',
      editing(NEWEST, ({ events }) => ({ events: events.slice(1) })),
      /does not have 100 events$/,
    ],
    [
      'are more than a page',
      editing(RANDOM, ({ events }) => ({ events: [...events, ...events.slice(-1)] })),
      /does not have 100 events$/,
    ],
    [
      'are in another order',
      editing(NEWEST, ({ events }) => ({ events: events.toReversed() })),
      /leaves out or repeats a seq$/,
    ],
    [
      'repeat a seq',
      editing(RANDOM, ({ events }) => ({ events: [...events.slice(0, 1), ...events.slice(0, -1)] })),
      /leaves out or repeats a seq$/,
    ],
    [
      'are the oldest page in place of the newest',
      editing(NEWEST, () => ({ events: oldest })),
      /^events \| events\?order=.*: begins with seq 100, and 150 events are signed$/,
    ],
    [
      'begin after another seq',
      editing(RANDOM, ({ events }) => ({
        events: events.map((event) => ({ ...event, seq: Number(event['seq']) + 1 })),
      })),
      /leaves out or repeats a seq$/,
    ],
    [
      'have another event alone',
      (path, body) => (/^events\/\d+$/.test(path) ? Buffer.from('{}') : body),
      /^events \| events\/56: seq 56 differs from the archive$/,
    ],
    [
      'have no event alone',
      (path, body) => (/^events\/\d+$/.test(path) ? undefined : body),
      /^events \| events\/56: seq 56 differs from the archive$/,
    ],
    [
      'have the receipt of another event',
      (path, body) => (path === 'log/proof/56' ? log.body('log/proof/55') : body),
      /^events \| log\/proof\/56: is not a receipt of this event$/,
    ],
  ]
  for (const [what, change, says] of table) {
    test(`are wrong when they ${what}`, async () => {
      const { found } = await sampled(log, 0.37, change)
      assert.notDeepEqual(found, [])
      for (const line of found) assert.match(line, says)
    })
  }

  test('are all of the signed log, and none of its future', async () => {
    const later = editing(NEWEST, ({ events }) => ({
      events: events.map((event) => ({ ...event, seq: Number(event['seq']) + 1_000_000 })),
    }))
    assert.deepEqual((await sampled(log, 0.37, later)).found, [
      'consistency | log/checkpoint: ROLLBACK: it covers 150 events, and 1000150 were signed or counted a moment ago',
      'events | events?order=desc&limit=100: seq 1000150 is not in the signed log',
    ])
  })
})
