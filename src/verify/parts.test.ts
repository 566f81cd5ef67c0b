import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { findingLines, inspectOf, RICH_LOG, RICH_LOGS } from '../../test/stage/audit-stage.ts'
import { type Change, checkpointOver, publicLog } from '../../test/story/public-log.ts'
import {
  AT,
  key,
  log,
  noteAt,
  one,
  otherTail,
  questions,
  size,
  two,
  witnessedAs,
} from '../../test/tamper/witness-stage.ts'
import { cosigned } from '../../test/story/witness-keys.ts'
import type { Entry } from '../protocol/event.ts'
import { DAY_MS, type Month, monthOf, msOf } from '../protocol/moment.ts'
import type { Audit } from './audit.ts'
import { isVerified } from './report.ts'

const replaced =
  (at: string, from: string | RegExp, to: string): Change =>
  (path, body) => {
    if (path !== at) return body
    const text = Buffer.from(body ?? []).toString()
    assert.notEqual(text.replace(from, to), text)
    return Buffer.from(text.replace(from, to))
  }

const resultsOf = ({ checks }: Audit): readonly string[] => checks.map(({ name, is }) => `${name} ${is}`)
const monthIn = ({ event }: Entry): Month => monthOf(event.atMs)
const MONTHS = [...new Set(RICH_LOG.map(monthIn))]
const [FIRST = assert.fail(), SECOND = assert.fail()] = MONTHS
const OPEN = MONTHS.at(-1) ?? assert.fail()
const savedAt = (at: number, entries = RICH_LOG): Parameters<typeof inspectOf>[3] => ({
  saved: [{ name: 'your visit', note: Buffer.from(checkpointOver(entries, at, key)), named: true }],
})

suite('an event', () => {
  test('is proved by the tiles, at every seq', async () => {
    for (let seq = 1; seq <= size; seq++) {
      const found = await inspectOf(log, { is: 'event', seq })
      assert.deepEqual(resultsOf(found), ['signature right', 'consistency not checked', 'event right'])
      assert.ok(isVerified(found))
    }
  })

  test('is wrong when its line, its details or a tile differ from the signed ones', async () => {
    const seq = RICH_LOG.findIndex(({ details }) => details !== null) + 1
    for (const change of [
      replaced(`events/${seq}`, /"atMs":(\d+)(\d)/, '"atMs":$19$2'),
      replaced(`events/${seq}/details`, /"details":\{[^}]*\}/, '"details":null'),
      (path, body) => (path.startsWith('log/tile/') ? body?.toReversed() : body),
      (path, body) => (path.startsWith('log/tile/') ? undefined : body),
      (path, body) => (path === `events/${seq}` ? undefined : body),
    ] satisfies readonly Change[]) {
      const found = await inspectOf(log, { is: 'event', seq }, change)
      assert.ok(resultsOf(found).includes('event wrong'))
      assert.ok(!isVerified(found))
    }
  })

  test('of the future, or below a wrong signature, is not checked', async () => {
    const future = await inspectOf(log, { is: 'event', seq: size + 1 })
    assert.deepEqual(resultsOf(future).at(-1), 'event not checked')
    assert.ok(!isVerified(future))
    const forged = await inspectOf(
      log,
      { is: 'event', seq: 1 },
      replaced('log/checkpoint', /(— \S+ .{20}).{4}/, '$1AAAA'),
    )
    assert.deepEqual(resultsOf(forged), ['signature wrong', 'consistency not checked', 'event not checked'])
  })
})

suite('the growth of a log', () => {
  test('is proved from a checkpoint of every size, and the newest is kept', async () => {
    for (let at = 0; at <= size; at++) {
      const found = await inspectOf(log, { is: 'growth' }, undefined, savedAt(at))
      assert.deepEqual(resultsOf(found), ['signature right', 'consistency right'])
      assert.deepEqual(
        found.keep?.notes.map((note) => note.size),
        [size],
      )
    }
  })

  test('is wrong after another past, after a longer log, and with false tiles: then nothing is kept', async () => {
    const shorter = publicLog(RICH_LOG.slice(0, 9), key)
    const lie: Change = (path, body) => (path.startsWith('log/tile/') ? body?.toReversed() : body)
    for (const [from, change, at, entries, says] of [
      [log, undefined, size - 1, otherTail, /FORK/],
      [shorter, undefined, size, RICH_LOG, /ROLLBACK/],
      [log, lie, 9, RICH_LOG, /do not lead to the signed root/],
    ] as const) {
      const found = await inspectOf(from, { is: 'growth' }, change, savedAt(at, entries))
      assert.match(findingLines(found).join(), says)
      assert.equal(found.keep, null)
    }
  })
})

suite('the chosen witnesses', () => {
  const witnesses = questions({})
  const noteOf = (covers: number, at = AT): string => cosigned(noteAt(covers), at, one, two)

  test('vouch for a part too, and for a past that the log grew from', async () => {
    for (const covers of [size, size - 1]) {
      const found = await inspectOf(log, { is: 'growth' }, witnessedAs(noteOf(covers)), { witnesses })
      assert.ok(resultsOf(found).includes('witnesses right'), findingLines(found).join())
      assert.deepEqual(found.vouched, { size: covers, liars: 1 })
    }
  })

  test('are wrong about another past, and not checked when the next event is of yesterday', async () => {
    const other = cosigned(noteAt(size - 1, otherTail), AT, one, two)
    assert.match(
      findingLines(await inspectOf(log, { is: 'growth' }, witnessedAs(other), { witnesses })).join(),
      /witnesses \| .*FORK/,
    )
    const now = (): ReturnType<typeof msOf> => msOf(log.now + DAY_MS)
    const late = noteOf(size - 1, msOf(now() - 60_000))
    const found = await inspectOf(log, { is: 'growth' }, witnessedAs(late), { witnesses, now })
    assert.ok(resultsOf(found).includes('witnesses not checked'))
  })
})

suite('a month', () => {
  test('leads to its signed root, and nothing is left out', async () => {
    for (const month of [FIRST, SECOND]) {
      const found = await inspectOf(log, { is: 'month', month })
      assert.deepEqual([findingLines(found), resultsOf(found).at(-1)], [[], 'month right'])
    }
  })

  test('is wrong when a line, its root or the event after it differs', async () => {
    const file = `archive/${FIRST}.jsonl.gz`
    const next = RICH_LOG.filter((entry) => monthIn(entry) === FIRST).length + 1
    for (const change of [
      replaced(`archive/${FIRST}.json`, /"root":".{4}/, '"root":"AAAA'),
      replaced(`events/${next}`, /"kind":"/, '"kind":"x'),
      (path, body) => (path === file && body ? gzipSync(gunzipSync(body).subarray(0, -1)) : body),
    ] satisfies readonly Change[]) {
      const found = await inspectOf(log, { is: 'month', month: FIRST }, change)
      assert.equal(resultsOf(found).at(-1), 'month wrong')
    }
  })

  test('that ends before its last event is wrong, though its key has signed it', async () => {
    // The log closes the month an event early. The next event, which is of the month, tells.
    const early = RICH_LOG.filter((entry) => monthIn(entry) === FIRST).slice(0, -1)
    const last = RICH_LOG.find((entry) => monthIn(entry) === SECOND) ?? assert.fail()
    const cut = publicLog([...early, last], key)
    const lie: Change = (path, body) => (path.startsWith(`archive/${FIRST}`) ? cut.body(path) : body)
    const found = await inspectOf(log, { is: 'month', month: FIRST }, lie)
    assert.match(findingLines(found).join(), /is of .* too, but is not in its file/)
  })

  test('that is open or unknown is not checked', async () => {
    for (const month of [OPEN, '1999-01' as Month]) {
      assert.equal(resultsOf(await inspectOf(log, { is: 'month', month })).at(-1), 'month not checked')
    }
  })
})

suite('a saved proof', () => {
  const proofOf = (seq: number): Uint8Array => log.body(`log/proof/${seq}`) ?? assert.fail()

  test('leads from its event to its root, which the log grew from', async () => {
    const found = await inspectOf(log, { is: 'proof', bytes: proofOf(7) })
    assert.deepEqual(resultsOf(found), ['signature right', 'consistency right', 'proof right'])
    const witnesses = questions({})
    const cosignedProof = Buffer.from(proofOf(7)).toString().split('\n\n')
    const bytes = Buffer.from(
      `${cosignedProof[0]}\n\n${cosigned(cosignedProof.slice(1).join('\n\n'), AT, one)}`,
    )
    const named = await inspectOf(
      log,
      { is: 'proof', bytes },
      witnessedAs(cosigned(noteAt(size), AT, one, two)),
      {
        witnesses,
      },
    )
    assert.match(named.checks.at(-1)?.says ?? '', /signed by witness\.example\/one$|signed by .*one$/)
  })

  test('is wrong when it is damaged, of another log, or of a past that the log does not have', async () => {
    const text = Buffer.from(proofOf(7)).toString()
    const other = publicLog(otherTail, key).body(`log/proof/${size - 1}`) ?? assert.fail()
    for (const bytes of [
      Buffer.from(text.replace('index 6', 'index 5')),
      Buffer.from(text.replace(/(index 6\n).{4}/, '$1AAAA')),
      Buffer.from('no proof'),
      publicLog(RICH_LOG).body('log/proof/7') ?? assert.fail(),
      other,
    ])
      assert.ok(!isVerified(await inspectOf(log, { is: 'proof', bytes })))
  })
})

suite('a file of a loyalty run', () => {
  const digest = `sha256:${createHash('sha256').update('points').digest('hex')}`
  const entries =
    RICH_LOGS.find((each) => each.some(({ details }) => details?.digest !== undefined)) ?? assert.fail()
  const runs = publicLog(entries)
  const naming = entries.find(
    ({ event, details }) => event.type === 'loyalty' && details?.digest !== undefined,
  )
  const own = naming?.details?.digest ?? assert.fail()

  test('is named by an event of the signed log', async () => {
    const found = await inspectOf(runs, { is: 'file', digest: own })
    assert.equal(resultsOf(found).at(-1), 'file right')
    assert.match(found.checks.at(-1)?.says ?? '', /names it as the (?:input|output) of \d{4}-\d\d/)
  })

  test('is wrong when no event names it, whatever the list of runs says', async () => {
    assert.equal(resultsOf(await inspectOf(runs, { is: 'file', digest })).at(-1), 'file wrong')
    for (const [seq, is] of [
      [1, 'wrong'],
      [naming?.event.seq, 'wrong'],
      [9_999, 'not checked'],
      ['x', 'wrong'],
    ]) {
      const lie: Change = (path, body) =>
        path === 'loyalty/runs'
          ? Buffer.from(JSON.stringify({ runs: [{ input: null, output: { seq, digest } }] }))
          : body
      assert.equal(resultsOf(await inspectOf(runs, { is: 'file', digest }, lie)).at(-1), `file ${is}`)
    }
  })
})
