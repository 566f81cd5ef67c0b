import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import type { Change } from '../../test/story/public-log.ts'
import { checkpointOver, publicLog } from '../../test/story/public-log.ts'
import { monthOf } from '../protocol/moment.ts'
import type { Audit } from './audit.ts'
import type { Check } from './questions/check.ts'
import type { SavedNote } from './saved-checkpoint.ts'

const log = publicLog(RICH_LOG)
const size = RICH_LOG.length
const UNREAD = 'not checked: the entries could not all be read'

function says({ checks }: Audit, name: Check['name']): string {
  const { is, says: text } = checks.find((check) => check.name === name) ?? {}
  return `${is}: ${text}`
}

/** Audits the log as a folder, without the files whose paths match. */
function auditFolder(lacking: RegExp | null): Promise<Audit> {
  const change: Change = (path, body) => (lacking?.test(path) ? undefined : body)
  return auditOf(log, undefined, { source: { ...log.source(change), is: 'folder' } })
}

suite('the verdict about a figure', () => {
  test('counts the answers that were recomputed', async () => {
    const asked: string[] = []
    const found = await auditOf(log, (path, body) => {
      asked.push(path)
      return body
    })
    const count = (path: RegExp): number => asked.filter((one) => path.test(one)).length
    const said: readonly (readonly [name: Check['name'], says: string])[] = [
      ['summary', `as of now and of ${count(/^summary\?at=/)} past moments`],
      ['flows', `${count(/^flows/)} answers recomputed`],
      ['patterns', `${count(/^patterns/)} answers recomputed`],
      ['ledgers', `${count(/^contests\/\d+\/ledger/)} recomputed, with every payout`],
      ['schedule', 'recomputed'],
    ]
    for (const [name, text] of said) assert.equal(says(found, name), `right: ${text}`)
  })

  test('claims nothing about past moments, contests, corrections or pages of a log without events', async () => {
    const found = await auditOf(publicLog([]))
    assert.equal(says(found, 'summary'), 'right: as of now')
    for (const name of ['ledgers', 'corrections', 'events'] as const)
      assert.equal(says(found, name), 'not checked: there is nothing to compare')
  })

  test('names what a folder lacks', async () => {
    const whole = await auditFolder(null)
    assert.equal(says(whole, 'flows'), 'right: recomputed')
    assert.equal(says(whole, 'corrections'), 'not checked: not in the folder')
    assert.equal(says(whole, 'events'), 'not checked: a folder has no pages of them')
    const partial = await auditFolder(/^(?:flows|contests\/\d+)$/)
    assert.equal(says(partial, 'flows'), 'not checked: not in the folder')
    assert.equal(says(partial, 'contests'), 'not checked: 1 answers are not in the folder; 1 are right')
  })

  test('waits for a checkpoint that covers the answer of a folder', async () => {
    const older = Buffer.from(checkpointOver(RICH_LOG, size - 1, log.key))
    const source = log.source((path, body) => (path === 'log/checkpoint' ? older : body))
    const found = await auditOf(log, undefined, { source: { ...source, is: 'folder' } })
    assert.equal(says(found, 'summary'), 'not checked: it is newer than the checkpoint')
    assert.deepEqual(findingLines(found), [])
  })
})

suite('the verdict about the archive', () => {
  test('counts the closed months, and those of a folder without their manifest', async () => {
    const closed = new Set(RICH_LOG.map(({ event }) => monthOf(event.atMs))).size - 1
    assert.equal(
      says(await auditOf(log), 'archive'),
      `right: digests, manifests, roots and signatures of closed months: ${closed}`,
    )
    assert.equal(
      says(await auditFolder(/^archive\/[\d-]+\.json$/), 'archive'),
      `not checked: ${closed} closed months have no manifest here`,
    )
  })
})

suite('the verdict about the history', () => {
  const otherPast = RICH_LOG.map((entry, index) =>
    index === 2 ? { ...entry, event: { ...entry.event, tx: 'another' } } : entry,
  )
  const saved = (at: number, entries = RICH_LOG): SavedNote => ({
    name: `saved-${at}`,
    note: Buffer.from(checkpointOver(entries, at, log.key)),
    named: true,
  })
  const unread: Change = (path, body) => (path.endsWith('.jsonl.gz') ? undefined : body)

  test('counts the saved checkpoints that agree', async () => {
    const history = async (...notes: readonly SavedNote[]): Promise<string> =>
      says(await auditOf(log, undefined, { saved: notes }), 'consistency')
    assert.equal(await history(saved(3)), 'right: the log grew from 1 checkpoint saved before')
    assert.equal(await history(saved(3), saved(4)), 'right: the log grew from 2 checkpoints saved before')
  })

  test('is open about an earlier checkpoint while the entries cannot be read', async () => {
    for (const notes of [[saved(3)], [saved(size), saved(3)]]) {
      const found = await auditOf(log, unread, { saved: notes })
      assert.equal(says(found, 'consistency'), UNREAD)
      assert.equal(says(found, 'root'), UNREAD)
    }
  })

  test('needs no entries to compare a checkpoint of the present size', async () => {
    const same = await auditOf(log, unread, { saved: [saved(size)] })
    assert.equal(says(same, 'consistency'), 'right: the log grew from 1 checkpoint saved before')
    const forked = await auditOf(log, unread, { saved: [saved(size, otherPast)] })
    assert.match(findingLines(forked).join('\n'), /^consistency \| saved-\d+: FORK/m)
  })

  test('is open about an earlier checkpoint while the root is not that of the entries', async () => {
    const other = Buffer.from(checkpointOver(otherPast, size, log.key))
    const found = await auditOf(log, (path, body) => (path === 'log/checkpoint' ? other : body), {
      saved: [saved(3)],
    })
    assert.match(findingLines(found).join('\n'), /^root \| /m)
    assert.equal(says(found, 'consistency'), UNREAD)
  })
})
