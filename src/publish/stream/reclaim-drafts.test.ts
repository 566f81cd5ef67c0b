import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { suite, test } from 'node:test'
import type { WriterFolders } from '../../../test/messages/writer-folders.ts'
import { openWriterFolders } from '../../../test/messages/writer-folders.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { storePath } from '../../log/store/store.ts'
import { negate } from '../../protocol/amount.ts'
import type { Details } from '../../protocol/details.ts'
import type { Draft } from '../../protocol/draft.ts'
import { seqOf } from '../../protocol/seq.ts'
import { parseLine } from '../admission/draft-json.ts'
import { parseDraft } from '../admission/grammar.ts'
import { openTailCheck } from '../replica/tail-check.ts'
import { adoptBranch } from './adopt-branch.ts'
import { openEvidence } from './evidence-folder.ts'
import { joinLog } from '../cluster/join-log.ts'
import { reclaimDrafts } from './reclaim-drafts.ts'

const TX = '5'.repeat(88)

/** A correction of the trade with this seq. */
function correcting(ref: string, seq: number): Draft {
  const { kots } = tradeDraft('')
  assert.ok(kots !== null)
  const details = { corrects: seqOf(seq) }
  return tradeDraft(ref, { type: 'correction', kind: 'trade', kots: negate(kots), details })
}

/** A trade that replaces the cancelled trade with this seq. */
const restating = (ref: string, seq: number): Draft => tradeDraft(ref, { details: { restates: seqOf(seq) } })

const submit = (folders: WriterFolders, name: string, ...drafts: readonly Draft[]): Promise<unknown> =>
  folders.withWriter(name, async ({ queue }) => {
    const outcome = await queue.submit(drafts)
    assert.ok(outcome.ok, JSON.stringify(outcome))
  })

suite('the drafts of a branch that lost a fork', () => {
  test('are drafts for the door: held ones too, and corrections once their events have a seq', async () => {
    using folders = openWriterFolders({ asksChain: true })
    const engine = folders.make(1)
    await folders.begin('a', 'b')
    await submit(folders, 'a', tradeDraft('shared'), tradeDraft('held before', { tx: TX }))
    await folders.follow('b')
    await submit(folders, 'a', tradeDraft('wrong'), tradeDraft('held', { tx: TX }))
    await submit(folders, 'a', correcting('right', 2), correcting('shared right', 1))
    await submit(folders, 'a', tradeDraft('dropped', { tx: TX }), tradeDraft('other'))
    await folders.withWriter('a', ({ queue }) => queue.held.drop(['dropped', 'held before'], 'paid twice'))
    engine.loseTail(4, true)
    await submit(folders, 'b', { ...tradeDraft('other'), kind: 'sell' })

    await keepEvidence(folders, 'a', 'b')
    const settings = folders.settings('a')
    const before = reclaimDrafts(settings.dataDirectory, 'engine')
    assert.deepEqual([before.lost.length, before.waiting, before.ended], [3, 1, 1])
    assert.deepEqual(before.present, [
      { ref: 'other', status: 'published', seq: 2, same: false, wasDropped: false },
    ])

    await adoptBranchOf(folders, 'b', 'a')
    const after = reclaimDrafts(settings.dataDirectory, null)
    assert.deepEqual(after.lost, before.lost)
    assert.deepEqual(after.present[0], {
      ref: 'held before',
      status: 'held',
      seq: null,
      same: true,
      wasDropped: true,
    })
    assert.deepEqual(
      after.lost.map(draftOf).map(({ ref, tx }) => [ref, tx]),
      [
        ['wrong', null],
        ['held', TX],
        ['shared right', null],
      ],
    )
    await submit(folders, 'a', ...after.lost.map(draftOf))
    const [right = '', ...none] = reclaimDrafts(settings.dataDirectory, null).lost
    assert.deepEqual(none, [])
    const { ref, details } = draftOf(right)
    assert.deepEqual([ref, details?.corrects], ['right', 3])
  })

  test('are restatements once the events that they replace have a seq', async () => {
    using folders = openWriterFolders({ asksChain: false })
    const engine = folders.make(1)
    await folders.begin('a', 'b')
    await submit(folders, 'a', tradeDraft('shared'))
    await folders.follow('b')
    await submit(folders, 'a', tradeDraft('wrong'), correcting('undo', 2), restating('again', 2))
    await submit(folders, 'a', correcting('undo shared', 1), restating('shared again', 1))
    engine.loseTail(2, true)
    // The adopted branch has another cancelled event in the place of `wrong`.
    await submit(folders, 'b', tradeDraft('other'), correcting('undo other', 2))

    await keepEvidence(folders, 'a', 'b')
    await adoptBranchOf(folders, 'b', 'a')
    const { dataDirectory } = folders.settings('a')
    const rounds: (readonly (readonly [ref: string | null, details: Details | null])[])[] = []
    for (let round = 0; round < 3; round += 1) {
      const { lost, waiting } = reclaimDrafts(dataDirectory, null)
      const drafts = lost.map(draftOf)
      rounds.push(drafts.map(({ ref, details }) => [ref, details]))
      assert.equal(waiting, round === 0 ? 2 : 0)
      if (drafts.length > 0) await submit(folders, 'a', ...drafts)
    }
    assert.deepEqual(rounds, [
      [
        ['wrong', null],
        ['undo shared', { corrects: 1 }],
        ['shared again', { restates: 1 }],
      ],
      [
        ['undo', { corrects: 4 }],
        ['again', { restates: 4 }],
      ],
      [],
    ])
  })
})

/** Keeps the branches of a fork as evidence at these nodes. */
async function keepEvidence(folders: WriterFolders, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { connect, dataDirectory } = folders.settings(name)
    const { log } = await connect(1)
    const evidence = openEvidence(dataDirectory, 1)
    await folders.withWriter(name, ({ book }) => openTailCheck({ book, log, evidence }).keepBranches())
  }
}

/** Adopts the branch of one node, and gives the other node a copy of its store. */
async function adoptBranchOf(folders: WriterFolders, won: string, lost: string): Promise<void> {
  folders.make(2)
  await adoptBranch({ ...folders.settings(won), branch: 'engine' })
  const storeOf = (name: string): string => storePath(folders.settings(name).dataDirectory)
  cpSync(storeOf(won), storeOf(lost))
  await joinLog(folders.settings(lost))
}

/** The draft in a line, as the door reads it. */
function draftOf(line: string): Draft {
  const json = parseLine(line)
  const parsed = parseDraft(json.ok ? json.value : null, { chain: 'solana', mode: 'publish' })
  assert.ok(parsed.ok)
  return parsed.draft
}
