import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ALL } from '../../test/tamper/witness-stage.ts'
import { DAY_MS, MINUTE_MS, msOf, SECOND_MS } from '../protocol/moment.ts'
import { judgeQuorum, type WitnessedNote } from './witnessed-note.ts'

const NOW = Date.UTC(2026, 9, 5, 12)
const keys = ALL.map(({ key }) => key)
const [one = '', two = '', three = ''] = keys.map(({ name }) => name)

/** Judges a quorum of two, whose witnesses vouch so many milliseconds before the present. */
function judge(
  agesMs: Readonly<Record<string, number>>,
  {
    unverified = [],
    isService = true,
  }: Readonly<{ unverified?: readonly string[]; isService?: boolean }> = {},
): string {
  const vouchers = Object.entries(agesMs).map(([name, ageMs]) => ({
    name,
    timeSeconds: Math.ceil((NOW - ageMs) / SECOND_MS),
  }))
  const checkpoint = { origin: 'a log', size: 7, root: new Uint8Array(32), extensions: [] }
  const note: WitnessedNote = { checkpoint, note: new Uint8Array(0), vouchers, unverified }
  const { is, says } = judgeQuorum(note, { keys, quorum: 2 }, { size: 9, now: msOf(NOW), isService })
  return `${is}: ${says}`
}

suite('a quorum of witnesses', () => {
  test('is named with its time and those who are missing', () => {
    assert.equal(
      judge({ [one]: 2_000, [two]: 1_000 }),
      `right: 2 of 3 witnesses vouch for 7 of 9 events, as of 2026-10-05T11:59:58Z: ${one}, ${two}; not ${three}`,
    )
    assert.equal(
      judge({ [one]: 0, [two]: 0, [three]: 0 }),
      `right: 3 of 3 witnesses vouch for 7 of 9 events, as of 2026-10-05T12:00:00Z: ${one}, ${two}, ${three}`,
    )
  })

  test('of a service is at most a day old, and of a folder of any age', () => {
    const aged = (ms: number, isService: boolean): string => judge({ [one]: ms, [two]: ms }, { isService })
    assert.match(aged(DAY_MS, true), /^right: 2 of 3/)
    assert.match(
      aged(DAY_MS + SECOND_MS, true),
      /^wrong: FROZEN: no quorum has vouched for the last 24 hours; 2 of 3/,
    )
    assert.match(aged(400 * DAY_MS, false), /^right: 2 of 3/)
  })

  test('may be ten minutes ahead of the local clock, and no more', () => {
    assert.match(judge({ [one]: -10 * MINUTE_MS, [two]: -10 * MINUTE_MS }), /^right: 2 of 3/)
    assert.match(
      judge({ [one]: -10 * MINUTE_MS - SECOND_MS, [two]: 0 }),
      /^wrong: the time of its quorum is more than ten minutes ahead of the local clock$/,
    )
    assert.match(
      judge({ [one]: -11 * MINUTE_MS, [two]: 0, [three]: 0 }),
      new RegExp(`^right: 2 of 3 .*: ${two}, ${three}; not ${one}$`),
    )
  })

  test('that is too small is wrong, unless those that cannot be verified would make it whole', () => {
    assert.equal(
      judge({ [two]: 0 }),
      `wrong: 1 of 3 witnesses vouch for 7 of 9 events, and 2 are asked for; not ${one}, ${three}`,
    )
    assert.equal(
      judge({ [two]: 0 }, { unverified: [three] }),
      `not checked: 1 of 3 witnesses vouch for 7 of 9 events, and 2 are asked for; not ${one}; no ML-DSA-44 here to verify ${three}`,
    )
    assert.match(judge({}, { unverified: [three] }), /^wrong: 0 of 3/)
  })
})
