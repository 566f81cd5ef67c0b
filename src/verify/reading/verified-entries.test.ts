import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { RICH_LOG } from '../../../test/stage/audit-stage.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import { type Change, type PublicLog, publicLog } from '../../../test/story/public-log.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import type { Entry } from '../../protocol/event.ts'
import { DAY_MS } from '../../protocol/moment.ts'
import { listMonths } from './manifest.ts'
import { entriesOf } from './verified-entries.ts'

const log = publicLog(RICH_LOG)

/** Reads the first `size` entries of a log; without its months, one by one. */
async function read(
  { source }: PublicLog,
  size: number,
  { change, lacksMonths = false }: Readonly<{ change?: Change; lacksMonths?: boolean }> = {},
): Promise<readonly Entry[]> {
  const from = source(change)
  const months = lacksMonths ? [] : await listMonths(from)
  const entries: Entry[] = []
  for await (const some of entriesOf(from, months, size, NODE_PRIMITIVES))
    entries.push(...some.map(({ entry }) => entry))
  return entries
}

suite('the entries of a log', () => {
  test('are read up to a size, from its months or one by one', async () => {
    for (const size of [0, 1, 20, RICH_LOG.length - 1, RICH_LOG.length])
      for (const lacksMonths of [false, true])
        assert.deepEqual(await read(log, size, { lacksMonths }), RICH_LOG.slice(0, size), `${size} entries`)
  })

  test('are read one by one up to 200', async () => {
    const payments = Array.from({ length: 194 }, (_, index) => ({ tx: `tx-${index}`, tokens: 1 }))
    const entries = paidLog(payments)
    const long = publicLog(entries)
    assert.equal(entries.length, 201)
    assert.equal((await read(long, 200, { lacksMonths: true })).length, 200)
    await assert.rejects(
      read(long, 201, { lacksMonths: true }),
      /seq 1: and later ones are missing: the archive ends before/,
    )
  })

  test('are read with the files of an empty month right after them', async () => {
    const entries = paidLog([{ tx: 'a-transaction', tokens: 1 }], 70 * DAY_MS)
    const sparse = publicLog(entries)
    const size = entries.length - 1
    assert.deepEqual(await read(sparse, size), entries.slice(0, size))
    const cut: Change = (path, body) => (path === 'archive/2026-05.jsonl.gz' ? body?.subarray(1) : body)
    await assert.rejects(
      read(sparse, size, { change: cut }),
      /archive\/2026-05\.jsonl\.gz: its size is not that of its manifest/,
    )
  })

  const at = RICH_LOG.findIndex(({ details }) => details !== null) + 1
  const path = `events/${at}/details`
  const text = Buffer.from(log.body(path) ?? []).toString()
  const table: readonly (readonly [what: string, change: Change, says: RegExp])[] = [
    [
      'without a page of events',
      (asked, body) => (asked.startsWith('events?') ? undefined : body),
      /seq 1: is missing: the archive ends before the checkpoint does/,
    ],
    [
      'with a page of fewer events',
      (asked, body) => (asked.startsWith('events?') ? log.body('events?after=0&limit=3') : body),
      /seq 1: or one of the next is missing/,
    ],
    [
      'with details of another event',
      (asked, body) => (asked === path ? Buffer.from(text.replace(`"seq":${at}`, `"seq":${at + 1}`)) : body),
      new RegExp(`${path}: belongs to another event`),
    ],
    [
      'without an answer about details',
      (asked, body) => (asked === path ? undefined : body),
      new RegExp(`${path}: a line is not a seq with its details`),
    ],
  ]
  for (const [what, change, says] of table) {
    test(`are refused one by one ${what}`, async () =>
      assert.rejects(read(log, RICH_LOG.length, { change, lacksMonths: true }), says))
  }
})
