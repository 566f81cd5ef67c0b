import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import { keyList, keyRow } from '../../test/story/key-list.ts'
import {
  type Change,
  checkpointOver,
  type LogKey,
  newKey,
  ORIGIN,
  publicLog,
  rootOver,
  signed,
} from '../../test/story/public-log.ts'
import type { Entry } from '../protocol/event.ts'
import { NODE_PRIMITIVES } from '../command/terminal/node-primitives.ts'
import { isSame, treeHasher } from '../tlog/hash.ts'
import { seqOf } from '../protocol/seq.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import * as fc from 'fast-check'
import type { Audit } from './audit.ts'
import { formatReport, isVerified } from './report.ts'
import type { SavedNote } from './saved-checkpoint.ts'
import { parseBase64 } from '../tlog/note.ts'
import { isConsistent } from '../tlog/proof.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 4)
const key = newKey()
const size = RICH_LOG.length
const log = publicLog(RICH_LOG, key)
/** Another history: the third event has a larger amount. */
const otherPast: readonly Entry[] = RICH_LOG.map((entry, index) =>
  index === 2 ? { ...entry, event: { ...entry.event, tx: 'another' } } : entry,
)

function saved(entries: readonly Entry[], at: number, by: LogKey = key, named = false): SavedNote {
  return { name: `saved-${at}`, note: Buffer.from(checkpointOver(entries, at, by)), named }
}

/** Body of `log/keys`, with the keys and the former logs. */
const listing =
  (keys: readonly object[], formerLogs: readonly object[] = []): Change =>
  (path, body) =>
    path === 'log/keys' ? Buffer.from(keyList(ORIGIN, keys, formerLogs)) : body

const consistencyOf = ({ checks }: Audit): string | undefined =>
  checks.find(({ name }) => name === 'consistency')?.says

suite('a saved checkpoint', () => {
  test('agrees with the log that grew from it, at every size', async () => {
    const every = Array.from({ length: size + 1 }, (_, at) => saved(RICH_LOG, at))
    const found = await auditOf(log, undefined, { saved: every })
    assert.deepEqual(findingLines(found), [])
    assert.match(consistencyOf(found) ?? '', new RegExp(`grew from ${size + 1} checkpoints`))
  })

  test('of the present size with another history shows a FORK', async () => {
    const found = await auditOf(log, undefined, { saved: [saved(otherPast, size)] })
    assert.deepEqual(findingLines(found), [
      `consistency | saved-${size}: FORK: the first ${size} events differ from what it signed`,
    ])
    assert.equal(found.keep, null)
    assert.deepEqual(Object.keys(found.evidence[0]?.files ?? {}), [
      'saved.checkpoint',
      'served.checkpoint',
      'evidence.txt',
    ])
  })

  test('of a size before the fork shows nothing', async () => {
    const found = await auditOf(log, undefined, { saved: [saved(otherPast, 2)] })
    assert.deepEqual(findingLines(found), [])
  })

  test('of an earlier size shows a FORK with a proof that anyone can check', async () => {
    const hasher = treeHasher(NODE_PRIMITIVES.sha256)
    for (const at of [3, 4, 7, size - 1]) {
      const found = await auditOf(log, undefined, { saved: [saved(otherPast, at)] })
      assert.match(findingLines(found).join(), /FORK/)
      const files = found.evidence[0]?.files ?? {}
      const [root, ...proof] = Buffer.from(files['evidence.txt'] ?? [])
        .toString()
        .split('\n')
        .flatMap((line) => (/^[A-Za-z0-9+/]{43}=$/.test(line) ? (parseBase64(line) ?? []) : []))
      assert.ok(root !== undefined)
      const [earlier, later] = [
        { size: at, root },
        { size, root: rootOver(RICH_LOG, size) },
      ]
      assert.ok(isConsistent(hasher, earlier, later, proof), `the tree of ${at}`)
      assert.notDeepEqual(root, rootOver(otherPast, at))
    }
  })

  test('of more events than the log has now shows a ROLLBACK, not a FORK', async () => {
    const shorter = publicLog(RICH_LOG.slice(0, -5), key)
    const found = await auditOf(shorter, undefined, { saved: [saved(RICH_LOG, size)] })
    assert.deepEqual(findingLines(found), [
      `consistency | saved-${size}: ROLLBACK: it covers ${size} events, and the log now has ${size - 5}`,
    ])
    assert.equal(found.evidence[0]?.name, `rollback-${size}-${size - 5}`)
  })

  test('by a key that the log does not list is wrong', async () => {
    const found = await auditOf(log, undefined, { saved: [saved(RICH_LOG, 4, newKey())] })
    assert.deepEqual(findingLines(found), ['consistency | saved-4: no known key has signed the note'])
  })

  test('of another log is noted, and is wrong when the user named it', async () => {
    const other = newKey('elsewhere.example/log')
    const found = await auditOf(log, undefined, { saved: [saved(RICH_LOG, 4, other)] })
    assert.deepEqual(findingLines(found), [])
    assert.match(found.notes.join(), /1 saved checkpoints belong to other logs than daybook\.example\/log/)
    const named = await auditOf(log, undefined, { saved: [saved(RICH_LOG, 4, other, true)] })
    assert.deepEqual(findingLines(named), ['consistency | saved-4: the checkpoint is of another log'])
  })

  test('of a former log is compared up to the loss, and noted beyond it', async () => {
    const before = newKey(`${ORIGIN}/before`)
    const change = listing(
      [keyRow(before, { toSize: 6 }), keyRow(key, { fromSize: 6 })],
      [{ id: 'b', origin: before.key.name, size: 6 }],
    )
    const kept = await auditOf(log, change, {
      saved: [saved(RICH_LOG, 5, before), saved(otherPast, 9, before)],
    })
    assert.deepEqual(
      findingLines(kept).filter((line) => line.startsWith('consistency')),
      [],
    )
    assert.match(
      kept.notes.join(),
      /saved-9 covers 9 events of a former log, .*: this log continues its first 6/,
    )
    const forked = await auditOf(log, change, { saved: [saved(otherPast, 5, before)] })
    assert.match(findingLines(forked).join('\n'), /saved-5: FORK/)
  })
})

/** Changes of the history that an operator, or a thief of the key, could sign. */
const REWRITES: Readonly<Record<string, (entries: readonly Entry[], at: number) => readonly Entry[]>> = {
  'nothing at all': (entries) => entries,
  'more events': (entries) => [...entries, ...entries.slice(-1)],
  'an older copy': (entries, at) => entries.slice(0, at),
  'two events swapped': (entries, at) => {
    const [a, b] = [entries[at], entries[at + 1]]
    return a === undefined || b === undefined
      ? entries
      : entries.with(at, atMomentOf(b, a)).with(at + 1, atMomentOf(a, b))
  },
  'an event taken out': (entries, at) => entries.toSpliced(at, 1),
  'an event put in': (entries, at) => entries.toSpliced(at, 0, ...entries.slice(at, at + 1)),
  'another genesis': (entries) => entries.slice(1),
}

/** An event at the moment of another, so that moments stay in order. */
const atMomentOf = (entry: Entry, { event }: Entry): Entry => ({
  ...entry,
  event: { ...entry.event, atMs: event.atMs },
})

const renumbered = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry, index) => ({ ...entry, event: { ...entry.event, seq: seqOf(index + 1) } }))

suite('a history that was rewritten and signed with the same key', () => {
  for (const [what, rewrite] of Object.entries(REWRITES)) {
    test(`is found if, and only if, it differs from the saved checkpoint: ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(randomLogs, fc.nat(), fc.nat(), async (random, at, upTo) => {
          // Corrections would name other events after seqs change.
          const honest = renumbered(random.filter(({ event }) => event.type !== 'correction'))
          fc.pre(honest.length > 1)
          const past = renumbered(rewrite(honest, at % honest.length))
          const kept = 1 + (upTo % honest.length)
          const found = await auditOf(publicLog(past, key), undefined, { saved: [saved(honest, kept)] })
          const isShort = past.length < kept
          const isOther = !isSame(rootOver(past, kept), rootOver(honest, kept))
          const said = findingLines(found).join('\n')
          if (isShort) assert.match(said, /^consistency \| saved-\d+: ROLLBACK/)
          else if (isOther) assert.match(said, /^consistency \| saved-\d+: FORK/)
          else assert.equal(said, '')
        }),
        { numRuns: RUNS },
      )
    })
  }
})

suite('a key', () => {
  const next = newKey()
  const statement = (fromSize: number, by: LogKey, of: LogKey): string =>
    signed(`daybook key rotation v1\n${ORIGIN}\n${fromSize}\n${of.vkey}\n`, by)
  const signedBy =
    (...keys: readonly LogKey[]): Change =>
    (path, body) => {
      const checkpoint = checkpointOver(RICH_LOG, size, ...keys)
      if (path === 'log/checkpoint') return Buffer.from(checkpoint)
      if (!path.startsWith('log/proof/')) return body
      const [proof = ''] = Buffer.from(body ?? [])
        .toString()
        .split('\n\n')
      return Buffer.from(`${proof}\n\n${checkpoint}`)
    }
  const both =
    (...changes: readonly Change[]): Change =>
    (path, body) =>
      changes.reduce((found, change) => change(path, found), body)

  test('from the user is trusted, and named in the report', async () => {
    const { checks } = await auditOf(log)
    assert.match(
      checks[0]?.says ?? '',
      /^\d+ events, signed by daybook\.example\/log\+[0-9a-f]{8} \(the key that you gave\)$/,
    )
  })

  test('from the same server proves little, which the report says', async () => {
    const found = await auditOf(log, undefined, { own: { given: [], keptOf: () => [] } })
    assert.ok(isVerified(found))
    assert.match(found.checks[0]?.says ?? '', /from the same server, which proves little/)
    // The browser shows the checks too, and has no options.
    assert.ok(found.checks.every(({ says }) => !says.includes('--')))
    const report = formatReport(found, 'plain', '1 s')
    assert.match(report, /signature.*: give one from somewhere else\); --key takes it$/m)
    assert.match(report, /no checkpoint was saved at an earlier visit; --save keeps one for the next visit$/m)
    assert.doesNotMatch(formatReport(found, 'plain', '1 s', []), /--/)
  })

  test('that has not signed the checkpoint is reported', async () => {
    const found = await auditOf(log, signedBy(next))
    assert.deepEqual(findingLines(found), ['signature | log/checkpoint: no known key has signed the note'])
  })

  test('is trusted when a statement of an older key names it', async () => {
    const rows = [
      keyRow(key, { toSize: 6, state: 'retired' }),
      keyRow(next, { fromSize: 6, statement: statement(6, key, next) }),
    ]
    const found = await auditOf(log, both(listing(rows), signedBy(next)))
    assert.deepEqual(findingLines(found), [])
    assert.deepEqual(found.keep?.vkeys, [key.vkey, next.vkey])
  })

  test('is valid beside an unknown signature', async () => {
    const found = await auditOf(log, signedBy(key, next))
    assert.deepEqual(findingLines(found), [])
  })
})
