import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import {
  ALL,
  AT,
  auditWith,
  key,
  log,
  noteAt,
  one,
  otherTail,
  questions,
  size,
  three,
  two,
  witnessedAs,
} from '../../test/tamper/witness-stage.ts'
import { checkpointOver, newKey, publicLog } from '../../test/story/public-log.ts'
import { cosigned, witnessKey } from '../../test/story/witness-keys.ts'
import { keyOfSeed } from '../../test/tlog/example.ts'
import { NODE_PRIMITIVES } from '../command/terminal/node-primitives.ts'
import { DAY_MS, formatAt, MINUTE_MS, msOf, SECOND_MS } from '../protocol/moment.ts'
import { formatNote, type Note, parseNote } from '../tlog/note.ts'
import type { Audit, AuditSettings } from './audit.ts'
import { formatReport, isVerified } from './report.ts'
import { judgeQuorum, type WitnessAnswer, type WitnessedNote } from './witnesses.ts'

const saysOf = ({ checks }: Audit): string => {
  const { is, says } = checks.find(({ name }) => name === 'witnesses') ?? assert.fail()
  return `${is}: ${says}`
}

suite('the witnesses of a log', () => {
  test('are no check of a reader who has chosen none', async () => {
    const found = await auditOf(log, witnessedAs('no note'))
    assert.ok(found.checks.every(({ name }) => name !== 'witnesses'))
    assert.match(formatReport(found, 'plain', ''), /or that others are shown the same log\.\nFor the last/)
  })

  test('are named with the number of events and the time as of which a quorum vouches', async () => {
    const note = cosigned(cosigned(noteAt(size - 2), AT, one), AT - 5 * SECOND_MS, two, three)
    const found = await auditWith(note)
    assert.deepEqual(findingLines(found), [])
    assert.ok(isVerified(found))
    assert.equal(
      saysOf(found),
      `right: 3 of 3 witnesses vouch for ${size - 2} of ${size} events, as of ${formatAt(msOf(AT - 5 * SECOND_MS)).replace('.000', '')}` +
        ': witness.example/one, witness.example/two, witness.example/three',
    )
    const report = formatReport(found, 'plain', '')
    assert.match(
      report,
      new RegExp(
        `^Vouched for: others who ask for this quorum are shown the same ${size - 2} events, unless 1 witness has cosigned two logs\\.$`,
        'm',
      ),
    )
    assert.doesNotMatch(report, /shown the same log/)
    assert.deepEqual(
      found.keep?.notes.map((kept) => kept.size),
      [size - 2, size],
    )
  })

  test('vouch for nothing to others when two quorums have no witness in common', async () => {
    const found = await auditWith(cosigned(noteAt(size), AT, one), { quorum: 1 })
    assert.ok(isVerified(found))
    assert.match(formatReport(found, 'plain', ''), /or that others are shown the same log\./)
  })

  test('are too few, and the missing ones are named', async () => {
    const found = await auditWith(cosigned(noteAt(size), AT, two))
    assert.deepEqual(findingLines(found), [
      `witnesses | log/checkpoint.witnessed: 1 of 3 witnesses vouch for ${size} of ${size} events, and 2 are asked for; not witness.example/one, witness.example/three`,
    ])
    assert.equal(found.keep, null)
    assert.match(formatReport(found, 'plain', ''), /^WRONG: witnesses;/m)
  })

  test('are missed when the log shows no witnessed checkpoint', async () => {
    assert.deepEqual(findingLines(await auditWith(undefined)), [
      'witnesses | log/checkpoint.witnessed: is missing: no quorum vouches for this log',
    ])
  })

  test('count once with two keys, and not at all with lines of unknown keys', async () => {
    const twin = witnessKey('one', 'ml-dsa-44')
    const strangers = Array.from({ length: 61 }, (_, n) => witnessKey(`stranger-${n}`))
    const note = cosigned(noteAt(size), AT, one, twin, ...strangers)
    const found = await auditWith(note, { keys: [...ALL, twin] })
    assert.match(findingLines(found).join(), /1 of 3 witnesses vouch .* and 2 are asked for/)
    const full = await auditWith(cosigned(noteAt(size), AT, one, two, ...strangers))
    assert.match(saysOf(full), /^right: 2 of 3/)
  })

  test('with ML-DSA-44 are named where the runtime cannot verify it, and make nothing wrong', async () => {
    const primitives = { ...NODE_PRIMITIVES, verifyMlDsa44: null }
    const note = cosigned(noteAt(size), AT, one, three)
    const found = await auditWith(note, {}, { primitives })
    assert.match(
      saysOf(found),
      /^not checked: 1 of 3 .*, and 2 are asked for; not witness\.example\/two; no ML-DSA-44 here to verify witness\.example\/three$/,
    )
    assert.ok(!isVerified(found))
    assert.ok(isVerified(await auditWith(note, { quorum: 1 }, { primitives })))
  })
})

suite('a witnessed checkpoint is refused', () => {
  const parsed = (note: string): Note => {
    const read = parseNote(Buffer.from(note))
    return read.ok ? read.value : assert.fail()
  }
  /** The note with the cosignatures of another one. */
  const withLines = (note: string, from: string): string => {
    const { text, signatures } = parsed(note)
    return formatNote({ text, signatures: [...signatures, ...parsed(from).signatures.slice(1)] })
  }
  const later = (note: string): string => {
    const { text, signatures } = parsed(note)
    const changed = signatures.map((line, index) => {
      const signature = Uint8Array.from(line.signature)
      if (index > 0) signature[7] = (signature[7] ?? 0) ^ 1
      return { ...line, signature }
    })
    return formatNote({ text, signatures: changed })
  }
  const foreign = newKey('other.example/log')
  const asLog = keyOfSeed('witness.example/one', 'ed25519', Buffer.alloc(32, 1))
  const SIXTY = Array.from({ length: 60 }, (_, n) => witnessKey(`stranger-${n}`))
  const good = cosigned(noteAt(size), AT, one, two)
  const REFUSED: readonly (readonly [what: string, note: string, says: RegExp])[] = [
    ['of another log', cosigned(checkpointOver(RICH_LOG, size, foreign), AT, one, two), /is of another log/],
    [
      'without a signature of the log',
      cosigned(checkpointOver(RICH_LOG, size, newKey()), AT, one, two),
      /no known key has signed/,
    ],
    [
      'with a cosignature of another checkpoint',
      withLines(noteAt(size), cosigned(noteAt(size - 1), AT, one, two)),
      /a signature by a known key does not hold/,
    ],
    ['with a cosignature of another time', later(good), /a signature by a known key does not hold/],
    [
      'with an unsound line of a known key among 64 lines',
      withLines(cosigned(noteAt(size), AT, one, two, ...SIXTY), later(cosigned(noteAt(size), AT, one))),
      /a signature by a known key does not hold/,
    ],
    ['that is no note', 'no note\n', /is not well formed/],
  ]
  for (const [what, note, says] of REFUSED) {
    test(what, async () => {
      const lines = findingLines(await auditWith(note))
      assert.equal(lines.length, 1, lines.join('\n'))
      assert.match(lines[0] ?? '', /^witnesses \| log\/checkpoint\.witnessed: /)
      assert.match(lines[0] ?? '', says)
    })
  }

  test('with the key of a log in the place of a witness: such a key vouches for nothing', async () => {
    const { text, signatures } = parsed(noteAt(size))
    const line = { name: asLog.key.name, keyId: asLog.key.keyId, signature: asLog.sign(Buffer.from(text)) }
    const note = formatNote({ text, signatures: [...signatures, line] })
    assert.match(findingLines(await auditWith(note)).join(), /0 of 3 witnesses vouch/)
  })

  test('that is frozen: its quorum is older than a day, or in the future', async () => {
    const old = await auditWith(cosigned(noteAt(size), log.now - DAY_MS - SECOND_MS, ...ALL))
    assert.match(findingLines(old).join(), /FROZEN: no quorum has vouched for the last 24 hours; 3 of 3/)
    assert.ok(isVerified(await auditWith(cosigned(noteAt(size), log.now - DAY_MS + SECOND_MS, ...ALL))))
    for (const at of [log.now + 11 * MINUTE_MS, Number.MAX_SAFE_INTEGER]) {
      const ahead = await auditWith(cosigned(noteAt(size), at, ...ALL))
      assert.match(findingLines(ahead).join(), /more than ten minutes ahead of the local clock/)
    }
    // A false witness must not make the quorum of an honest one wrong.
    const mixed = cosigned(cosigned(noteAt(size), log.now + 11 * MINUTE_MS, one), AT, two)
    const found = await auditWith(mixed, { quorum: 1 })
    assert.deepEqual(findingLines(found), [])
    assert.match(
      found.checks.find(({ name }) => name === 'witnesses')?.says ?? '',
      /^1 of 3 witnesses vouch for .*: witness\.example\/two; not witness\.example\/one,/,
    )
    const newest = cosigned(cosigned(noteAt(size), log.now - 2 * DAY_MS, one, two), log.now, three)
    assert.match(findingLines(await auditWith(newest)).join(), /FROZEN/, 'one fresh witness is no quorum')
  })

  test('that leaves out events of more than a day: a refreshed cosignature of an old tree proves too little', async () => {
    const found = await auditWith(cosigned(noteAt(1), log.now, ...ALL))
    assert.match(
      saysOf(found),
      /^not checked: 3 of 3 witnesses vouch for 1 of .*; no quorum vouches for event 2 of /,
    )
    assert.ok(!isVerified(found))
  })

  test('of another history: a FORK, with the proof for others', async () => {
    const found = await auditWith(cosigned(noteAt(size - 1, otherTail), AT, ...ALL))
    assert.deepEqual(findingLines(found), [
      `witnesses | log/checkpoint.witnessed: FORK: the first ${size - 1} events differ from what it signed`,
    ])
    assert.match(found.evidence[0]?.name ?? '', new RegExp(`^fork-${size - 1}-${size}-[0-9a-f]{8}$`))
    assert.equal(found.vouched, null)
    assert.equal(found.keep, null)
  })

  test('of more events than the log has, after the log got time to catch up', async () => {
    const shorter = publicLog(RICH_LOG.slice(0, -2), key)
    const witnesses = questions({})
    const note = cosigned(noteAt(size), AT, ...ALL)
    const found = await auditOf(shorter, witnessedAs(note), { witnesses })
    assert.match(
      findingLines(found).join('\n'),
      new RegExp(
        `^witnesses \\| .*: ROLLBACK: it covers ${size} events, and the log now has ${size - 2}$`,
        'm',
      ),
    )
    assert.equal(found.evidence.length, 1)
  })

  test('not because a node is a few seconds behind it', async () => {
    let waits = 0
    const behind = publicLog(RICH_LOG.slice(0, -1), key)
    const note = cosigned(noteAt(size), AT, ...ALL)
    const source = log.source((path, body) =>
      waits < 2 && path === 'log/checkpoint' ? behind.body(path) : witnessedAs(note)(path, body),
    )
    const pause = async (): Promise<void> => void (waits += 1)
    const found = await auditOf(log, undefined, { source: { ...source, pause }, witnesses: questions({}) })
    assert.deepEqual(findingLines(found), [])
    assert.equal(waits, 2)
  })
})

suite('a folder', () => {
  const folder = (note: string | undefined, entries = RICH_LOG): Partial<AuditSettings> => ({
    source: { ...publicLog(entries, key).source(witnessedAs(note)), is: 'folder' },
  })

  test('may have a quorum of any age, and asks no witness', async () => {
    const note = cosigned(noteAt(size - 3), log.now - 400 * DAY_MS, ...ALL)
    const found = await auditWith(undefined, { answers: { one: 'not asked' } }, folder(note))
    assert.deepEqual(findingLines(found), [])
    assert.match(
      saysOf(found),
      new RegExp(`^right: 3 of 3 witnesses vouch for ${size - 3} of ${size} events`),
    )
  })

  test('without a witnessed checkpoint, or with that of a larger tree, is not verified and not accused', async () => {
    const none = await auditWith(undefined, {}, folder(undefined))
    assert.equal(saysOf(none), 'not checked: log/checkpoint.witnessed is not in the folder')
    const later = folder(cosigned(noteAt(size), AT, ...ALL), RICH_LOG.slice(0, -1))
    const larger = await auditWith(undefined, {}, later)
    assert.match(saysOf(larger), /^not checked: .*; the folder has fewer events$/)
    for (const found of [none, larger]) {
      assert.deepEqual(findingLines(found), [])
      assert.ok(!isVerified(found))
    }
  })

  test('with another history than the witnesses saw is a FORK', async () => {
    const note = cosigned(noteAt(size, otherTail), AT, ...ALL)
    assert.match(findingLines(await auditWith(undefined, {}, folder(note))).join(), /FORK/)
  })
})

const NOW = Date.UTC(2026, 9, 5, 12)
const keys = ALL.map((witness) => witness.key)
const [first = '', second = '', third = ''] = keys.map(({ name }) => name)

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
  test('of a service is at most a day old, and of a folder of any age', () => {
    const aged = (ms: number, isService: boolean): string =>
      judge({ [first]: ms, [second]: ms }, { isService })
    assert.match(aged(DAY_MS, true), /^right: 2 of 3/)
    assert.match(
      aged(DAY_MS + SECOND_MS, true),
      /^wrong: FROZEN: no quorum has vouched for the last 24 hours; 2 of 3/,
    )
    assert.match(aged(400 * DAY_MS, false), /^right: 2 of 3/)
  })

  test('may be ten minutes ahead of the local clock, and no more', () => {
    assert.match(judge({ [first]: -10 * MINUTE_MS, [second]: -10 * MINUTE_MS }), /^right: 2 of 3/)
    assert.match(
      judge({ [first]: -10 * MINUTE_MS - SECOND_MS, [second]: 0 }),
      /^wrong: the time of its quorum is more than ten minutes ahead of the local clock$/,
    )
    assert.match(
      judge({ [first]: -11 * MINUTE_MS, [second]: 0, [third]: 0 }),
      new RegExp(`^right: 2 of 3 .*: ${second}, ${third}; not ${first}$`),
    )
  })
})

suite('a witness that is asked itself', () => {
  const note = cosigned(noteAt(size), AT, ...ALL)

  test('at the address of the log, confirms the log', async () => {
    const addresses: string[] = []
    const found = await auditWith(note, { answers: { one: cosigned(noteAt(size - 1), AT, one) }, addresses })
    assert.deepEqual([findingLines(found), found.notes], [[], []])
    // printf daybook.example/log | sha256sum
    assert.deepEqual(addresses, [
      'http://one/8ab4652f6825c23ccd8ea0a1d728d54cf3b4051211a781dec66aa25f299253bf/checkpoint',
    ])
  })

  test('and shows another history finds a SPLIT VIEW with evidence', async () => {
    for (const at of [size - 1, size]) {
      const found = await auditWith(note, { answers: { two: cosigned(noteAt(at, otherTail), AT, two) } })
      assert.deepEqual(findingLines(found), [
        `witnesses | witness.example/two: SPLIT VIEW: this witness was shown other events than the first ${at} here`,
      ])
      assert.equal(found.evidence.length, 1)
      assert.ok(!isVerified(found))
    }
  })

  test('and shows more events than the log finds a rollback or a split view', async () => {
    const shorter = publicLog(RICH_LOG.slice(0, -1), key)
    const witnesses = questions({ answers: { two: cosigned(noteAt(size, otherTail), AT, two) } })
    const own = cosigned(noteAt(size - 2), AT, ...ALL)
    const found = await auditOf(shorter, witnessedAs(own), { witnesses })
    assert.match(
      findingLines(found).join('\n'),
      /^witnesses \| witness\.example\/two: ROLLBACK or SPLIT VIEW: this witness was shown \d+ events, and the log has \d+ here$/m,
    )
  })

  test('and has only one of the two signatures is compared all the same', async () => {
    const unsigned = cosigned(checkpointOver(otherTail, size, newKey()), AT, two)
    const byWitness = await auditWith(note, { answers: { two: unsigned } })
    // An honest log must not be accused on the word of one witness.
    assert.deepEqual(findingLines(byWitness), [
      `witnesses | witness.example/two: SPLIT VIEW or a false witness: it has cosigned other events than the first ${size} here, and no known key of the log has signed them`,
    ])
    assert.deepEqual(byWitness.evidence, [], 'it proves nothing about the key of the log')
    const byLog = await auditWith(note, { answers: { two: noteAt(size, otherTail) } })
    assert.match(findingLines(byLog).join(), /SPLIT VIEW/)
    assert.equal(byLog.evidence.length, 1)
  })

  test('and does not answer, or answers with something else, is a note and no fault', async () => {
    const other = newKey('other.example/log')
    const answers: readonly (readonly [WitnessAnswer | string, string])[] = [
      [{ is: 'silent', why: 'status 503' }, 'does not answer: status 503'],
      [{ is: 'none' }, 'has cosigned no checkpoint of this log'],
      ['no note', 'answers with something else: the note is not well formed'],
      [cosigned(checkpointOver(RICH_LOG, size, other), AT, one), 'answers with a checkpoint of another log'],
      [
        checkpointOver(otherTail, size, newKey()),
        'answers with a checkpoint that neither the log nor it has signed',
      ],
      [noteAt(size), 'answers with a checkpoint that it has not cosigned'],
      [
        cosigned(checkpointOver(RICH_LOG, size, newKey()), AT, one),
        'answers with a checkpoint that no known key of the log has signed',
      ],
    ]
    for (const [answer, says] of answers) {
      const found = await auditWith(note, { answers: { one: answer } })
      assert.deepEqual(found.notes, [`witness witness.example/one ${says}`])
      assert.deepEqual(findingLines(found), [])
      assert.ok(isVerified(found))
    }
  })
})
