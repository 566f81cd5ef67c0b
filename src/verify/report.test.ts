import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Audit } from './audit.ts'
import type { Check } from './checklist.ts'
import { formatReport, isVerified } from './report.ts'

const right = (name: Check['name']): Check => ({ name, is: 'right', says: 'it is right', findings: [] })
const unchecked = (name: Check['name']): Check => ({
  ...right(name),
  is: 'not checked',
  says: 'there is nothing',
})
const wrong = (name: Check['name'], places: number): Check => ({
  ...right(name),
  is: 'wrong',
  findings: Array.from({ length: places }, (_, index) => ({ place: `seq ${index + 1}`, what: 'is missing' })),
})

const NEEDED = (['signature', 'root', 'log'] as const).map(right)
const NONE = { notes: [], chain: null, evidence: [], keep: null, vouched: null }
const auditOf = (checks: readonly Check[], more: Partial<Audit> = {}): Audit => ({ ...NONE, checks, ...more })
const ANSWERED = { lines: ['Asked at one.example.'], isAnswered: true }

/** Lines of a report. */
const linesOf = (audit: Audit, style: 'plain' | 'drawn' = 'plain'): readonly string[] =>
  formatReport(audit, style, '3 s').trimEnd().split('\n')

suite('an audit', () => {
  const table: readonly (readonly [what: string, audit: Audit, verified: boolean, conclusion: string])[] = [
    ['of a right log is verified', auditOf(NEEDED), true, 'all of it is right; 3 s'],
    [
      'with an unchecked figure is verified',
      auditOf([...NEEDED, unchecked('flows'), unchecked('funds')]),
      true,
      'right, and 2 not checked; 3 s',
    ],
    [
      'with a note is verified, and points at the note',
      auditOf([...NEEDED, unchecked('flows')], { notes: ['a note'] }),
      true,
      'right, and 1 not checked, but see the note; 3 s',
    ],
    [
      'with anything wrong is not verified',
      auditOf([...NEEDED, wrong('flows', 1), unchecked('funds'), wrong('events', 2)]),
      false,
      'WRONG: flows, events; 3 s',
    ],
    ...(['signature', 'root', 'log'] as const).map((name): (typeof table)[number] => [
      `with an unchecked ${name} is not verified`,
      auditOf([...NEEDED.filter((check) => check.name !== name), unchecked(name)]),
      false,
      'NOT VERIFIED; 3 s',
    ]),
    [
      'with unchecked witnesses is not verified',
      auditOf([...NEEDED, unchecked('witnesses')]),
      false,
      'NOT VERIFIED; 3 s',
    ],
    [
      'without an answer of the chain is not verified',
      auditOf(NEEDED, { chain: { lines: [], isAnswered: false } }),
      false,
      'NOT VERIFIED; 3 s',
    ],
    [
      'with an answer of the chain and right witnesses is verified',
      auditOf([...NEEDED, right('witnesses')], { chain: ANSWERED }),
      true,
      'all of it is right; 3 s',
    ],
  ]
  for (const [what, audit, verified, conclusion] of table) {
    test(what, () => {
      assert.equal(isVerified(audit), verified)
      assert.equal(linesOf(audit).at(-1), conclusion)
    })
  }
})

suite('a report', () => {
  test('has a line for each check, with three findings at most', () => {
    const audit = auditOf([
      right('root'),
      unchecked('schedule'),
      wrong('log', 1),
      wrong('events', 3),
      wrong('flows', 4),
    ])
    assert.deepEqual(linesOf(audit).slice(0, 12), [
      'ok    root      it is right',
      '-     schedule  not checked: there is nothing',
      'WRONG log       seq 1: is missing',
      'WRONG events    seq 1: is missing',
      '                seq 2: is missing',
      '                seq 3: is missing',
      'WRONG flows     seq 1: is missing',
      '                seq 2: is missing',
      '                seq 3: is missing',
      '                and 1 more',
      'Not proved: that events are true, that none was kept out of the log, or that others are shown the same log.',
      'For the last, compare checkpoints with others; --chain asks the chain about payments.',
    ])
  })

  test('aligns its columns in a terminal with symbols too', () => {
    const lines = linesOf(auditOf([right('root'), wrong('events', 2)]), 'drawn').slice(0, 3)
    assert.deepEqual(lines, [
      '\u001b[32m✓\u001b[0m root    it is right',
      '\u001b[31m✗\u001b[0m events  seq 1: is missing',
      '          seq 2: is missing',
    ])
  })

  test('has the notes, then the words about the chain, then what is not proved', () => {
    const audit = auditOf(NEEDED, { notes: ['one', 'two'], chain: ANSWERED })
    assert.deepEqual(linesOf(audit).slice(3, -1), [
      'note: one',
      'note: two',
      'Asked at one.example.',
      'Not proved: that events are true, that none was kept out of the log, or that others are shown the same log.',
      'For the last, compare checkpoints with others.',
    ])
  })

  test('says how many witnesses must have lied when others are shown another log', () => {
    const told = (liars: number, chain: Audit['chain']): readonly string[] =>
      linesOf(auditOf(NEEDED, { vouched: { size: 9, liars }, chain })).slice(3, -1)
    assert.deepEqual(told(1, null), [
      'Vouched for: others who ask for this quorum are shown the same 9 events, unless 1 witness has cosigned two logs.',
      'Not proved: that events are true, or that none was kept out of the log.',
      '--chain asks the chain about payments.',
    ])
    assert.deepEqual(told(2, ANSWERED), [
      'Asked at one.example.',
      'Vouched for: others who ask for this quorum are shown the same 9 events, unless 2 witnesses have cosigned two logs.',
      'Not proved: that events are true, or that none was kept out of the log.',
    ])
  })
})
