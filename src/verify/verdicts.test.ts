import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import { paidLog } from '../../test/story/paid-log.ts'
import {
  type Change,
  checkpointOver,
  newKey,
  type PublicLog,
  publicLog,
  rootOver,
} from '../../test/story/public-log.ts'
import { DAY_MS, monthOf, msOf, parseMonth } from '../protocol/moment.ts'
import type { Audit } from './audit.ts'
import type { Check } from './checklist.ts'
import { readObject } from './reading/json-values.ts'
import { type Manifest, parseServedManifest } from './reading/manifest.ts'
import type { SavedNote } from './saved-checkpoint.ts'
import { formatBase64 } from '../tlog/note.ts'

const log = publicLog(RICH_LOG)
const size = RICH_LOG.length
const UNREAD = 'not checked: the events could not all be read'

function says({ checks }: Audit, name: Check['name']): string {
  const { is, says: text } = checks.find((check) => check.name === name) ?? {}
  return `${is}: ${text}`
}

/** Audits the log as a folder, without the files whose paths match. */
function auditFolder(lacking: RegExp | null): Promise<Audit> {
  const change: Change = (path, body) => (lacking?.test(path) ? undefined : body)
  return auditOf(log, undefined, { source: { ...log.source(change), is: 'folder' } })
}

const jsonOf = (body: Uint8Array | undefined): object => JSON.parse(Buffer.from(body ?? []).toString())

/** Manifests of the closed months of a log. */
function closedMonths({ body }: PublicLog): readonly Manifest[] {
  const rows: readonly { month: string; state: string }[] = Object(jsonOf(body('archive'))).months
  return rows.flatMap(({ month, state }) => {
    const place = `archive/${month}.json`
    const own = parseMonth(month)
    return state === 'closed' && own !== undefined
      ? parseServedManifest(place, readObject(place, body(place) ?? new Uint8Array(0)), own)
      : []
  })
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

  test('finds a false outcome of a contest, moment of its cancellation, or amount that expired', async () => {
    const lies = { outcome: 'owing', cancelledAt: '2026-01-01T00:00:00.000Z', prizesExpired: '1.000000001' }
    for (const [field, lie] of Object.entries(lies)) {
      const found = await auditOf(log, (path, body) => {
        if (!/^contests(?:\?|$)/.test(path)) return body
        const { contests: [first, ...others] = [], ...rest } = Object(jsonOf(body))
        return Buffer.from(JSON.stringify({ ...rest, contests: [{ ...first, [field]: lie }, ...others] }))
      })
      assert.match(says(found, 'contests'), /^wrong: /, field)
    }
  })

  test('names what a folder lacks', async () => {
    const whole = await auditFolder(null)
    assert.equal(says(whole, 'flows'), 'right: recomputed')
    assert.equal(says(whole, 'corrections'), 'not checked: not in the folder')
    assert.equal(says(whole, 'events'), 'not checked: a folder has no pages of them')
    const partial = await auditFolder(/^(?:flows|contests\/\d+)$/)
    assert.equal(says(partial, 'flows'), 'not checked: not in the folder')
    assert.equal(says(partial, 'contests'), 'not checked: 1 answer is not in the folder; 1 are right')
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

  test('claims nothing about closed months that no checkpoint covers', async () => {
    const [first, ...later] = closedMonths(log)
    const own = first?.size ?? assert.fail()
    const forged = publicLog(RICH_LOG, newKey())
    const change: Change = (path, body) => {
      if (path === 'log/checkpoint') return Buffer.from(checkpointOver(RICH_LOG, own, log.key))
      return later.some(({ month }) => path === `archive/${month}.json`) ? forged.body(path) : body
    }
    const files: Change = (path, body) =>
      /^archive\/\d|^log\/(?:checkpoint|keys)/.test(path) ? change(path, body) : undefined
    const months = async (): Promise<readonly string[]> => closedMonths(log).map(({ month }) => month)
    const folder = await auditOf(log, undefined, { source: { ...log.source(files), is: 'folder', months } })
    const NEWER = `${later.length} closed months are newer than the checkpoint`
    assert.deepEqual(findingLines(folder), [])
    assert.equal(says(folder, 'archive'), `not checked: ${NEWER}`)

    const old = publicLog(RICH_LOG.slice(0, own), log.key, log.now)
    const service = await auditOf(log, (path) =>
      path.startsWith('archive') ? change(path, log.body(path)) : old.body(path),
    )
    const counted = (later.at(-1)?.size ?? 0) + 1
    assert.equal(says(service, 'archive'), `not checked: ${NEWER}`)
    assert.deepEqual(findingLines(service), [
      `consistency | log/checkpoint: ROLLBACK: it covers ${own} events, and ${counted} were signed or counted a moment ago`,
    ])
  })

  test('ties the size of a month without events to its place', async () => {
    const [start, ...rest] = paidLog([])
    const gap = rest.map((entry) => ({
      ...entry,
      event: { ...entry.event, atMs: msOf(entry.event.atMs + 62 * DAY_MS) },
    }))
    const quiet = publicLog([start ?? assert.fail(), ...gap], log.key)
    const months = async (): Promise<readonly string[]> => ['2026-04', '2026-05', '2026-06']
    const found = async (change: Change): Promise<readonly string[]> => {
      // The list of months is left out: its rows follow from the sizes.
      const source = quiet.source((path, body) => (path === 'archive' ? undefined : change(path, body)))
      return findingLines(await auditOf(quiet, undefined, { source: { ...source, is: 'folder', months } }))
    }
    const root = formatBase64(rootOver([], 0))
    const earlier = { size: 0, root, checkpoint: checkpointOver([], 0, log.key) }
    const other: Change = (path, body) =>
      path === 'archive/2026-05.json' ? Buffer.from(JSON.stringify({ ...jsonOf(body), ...earlier })) : body
    assert.deepEqual(await found((_, body) => body), [])
    assert.deepEqual(await found(other), ['archive | archive/2026-05.json: size is not 1'])
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

  test('is open about an earlier checkpoint while the entries cannot be read', async () => {
    for (const notes of [[saved(3)], [saved(size), saved(3)]]) {
      const found = await auditOf(log, unread, { saved: notes })
      assert.equal(says(found, 'consistency'), UNREAD)
      assert.equal(says(found, 'root'), UNREAD)
    }
  })

  test('needs no entries to compare a checkpoint of the present size', async () => {
    const same = await auditOf(log, unread, { saved: [saved(size)] })
    assert.equal(says(same, 'consistency'), `right: the log grew from the ${size} events of saved-${size}`)
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
