import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { suite, test } from 'node:test'
import type { WriterFolders } from '../../../test/messages/writer-folders.ts'
import { openWriterFolders } from '../../../test/messages/writer-folders.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { adoptBranch } from './adopt-branch.ts'
import type { BranchName } from './evidence-folder.ts'
import { joinLog } from '../cluster/join-log.ts'
import { moveFromEngine } from '../cluster/move-log.ts'
import { reclaimDrafts } from './reclaim-drafts.ts'

const publish = (folders: WriterFolders, name: string, ...refs: readonly string[]): Promise<unknown> =>
  folders.withWriter(name, ({ queue }) => queue.submit(refs.map((ref) => tradeDraft(ref))))

const refsIn = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => (JSON.parse(line) as { ref: string }).ref)

/**
 * Writers a, b and c, and a fork in stream 1. The engine loses a commit that a and `mate` have served, and b and c follow
 * another one, `late` of them only when they start again. All that were running have stopped.
 */
async function openForked(): Promise<WriterFolders> {
  const folders = openWriterFolders()
  const engine = folders.make(1)
  await folders.begin('a', 'mate', 'b', 'c', 'late')
  await publish(folders, 'a', 'shared')
  for (const name of ['mate', 'b', 'c', 'late']) await folders.follow(name)
  await publish(folders, 'a', 'of a', 'of both')
  await folders.follow('mate')
  engine.loseTail(1, true)
  await publish(folders, 'b', 'of both', 'of b')
  await folders.follow('c')
  for (const name of ['a', 'mate', 'b', 'c']) await stop(folders, name)
  return folders
}

/** Keeps the evidence, as a writer does that stops because of a fork. */
async function stop(folders: WriterFolders, name: string): Promise<void> {
  const { openTailCheck } = await import('../replica/tail-check.ts')
  const { openEvidence } = await import('./evidence-folder.ts')
  const { dataDirectory, connect } = folders.settings(name)
  const { log } = await connect(1)
  await folders.withWriter(name, async ({ book }) => {
    await openTailCheck({ book, log, evidence: openEvidence(dataDirectory, 1) }).keepBranches()
  })
}

const adopt = (folders: WriterFolders, name: string, branch: BranchName): ReturnType<typeof adoptBranch> =>
  adoptBranch({ ...folders.settings(name), branch })

suite('the adoption of a branch after a fork', () => {
  for (const [branch, winner, mates, losers] of [
    ['engine', 'b', ['c', 'late'], ['a', 'mate']],
    ['ours', 'a', ['mate'], ['b', 'c', 'late']],
  ] as const) {
    test(`${branch} takes its writers along, and the others start from a backup and lose nothing in silence`, async () => {
      using folders = await openForked()
      folders.make(2)
      const { origin, stream, head } = await adopt(folders, winner, branch)
      assert.match(origin, /^daybook\.test\/log\/[0-9a-f]{8}$/)
      assert.deepEqual([stream, head], [2, 3])
      assert.deepEqual(await adopt(folders, winner, branch), { origin, stream, head })
      await publish(folders, winner, 'after')

      for (const name of mates) {
        if (name === 'late') await folders.follow(name).catch(() => undefined)
        assert.deepEqual(await joinLog(folders.settings(name)), { owed: null, stopped: null })
        await folders.follow(name)
        assert.deepEqual(folders.tables(name), folders.tables(winner))
      }
      for (const name of losers) {
        if (name === 'late') await folders.follow(name).catch(() => undefined)
        await assert.rejects(
          joinLog(folders.settings(name)),
          /has adopted another branch .* goes on as daybook/,
        )
        const settings = folders.settings(name)
        cpSync(`${folders.settings(winner).dataDirectory}/daybook.db`, `${settings.dataDirectory}/daybook.db`)
        assert.deepEqual(await joinLog(settings), { owed: null, stopped: null })
      }
      const { lost, present, isWhole } = reclaimDrafts(folders.settings('a').dataDirectory, null)
      assert.deepEqual(refsIn(lost), [branch === 'ours' ? 'of b' : 'of a'])
      assert.deepEqual(present, [
        {
          ref: 'of both',
          status: 'published',
          seq: branch === 'ours' ? 3 : 2,
          same: true,
          wasDropped: false,
        },
      ])
      assert.ok(isWhole)
      await publish(folders, winner, ...refsIn(lost))
      if (winner !== 'a') await folders.follow('a')
      assert.deepEqual(reclaimDrafts(folders.settings('a').dataDirectory, null).lost, [])
      assert.equal(reclaimDrafts(folders.settings('c').dataDirectory, null).isWhole, false)
    })

    test(`${branch} that is killed at any step is completed by the same command`, async () => {
      using folders = await openForked()
      folders.make(2)
      let runs = 0
      for (let step = 1; runs === 0; step += 1) {
        for (const isAnswerLost of [false, true]) {
          const settings = folders.settings(winner)
          const kill = killer(settings.connect, step, isAnswerLost)
          const ended = await adoptBranch({ ...settings, branch, connect: kill.connect }).catch(
            (error: unknown) => error,
          )
          if (!(ended instanceof Error)) runs += 1
          else assert.equal(ended.message, 'killed')
        }
      }
      await publish(folders, winner, 'after')
      for (const name of mates) {
        if (name === 'late') await folders.follow(name).catch(() => undefined)
        await joinLog(folders.settings(name))
        await folders.follow(name)
        assert.deepEqual(folders.tables(name), folders.tables(winner))
      }
    })
  }

  test('is waited for: until then a writer that starts again takes no drafts', async () => {
    using folders = await openForked()
    for (const name of ['a', 'b', 'c']) {
      const { stopped } = await joinLog(folders.settings(name))
      assert.equal(stopped?.is, 'fork')
      assert.match(stopped.reason, /choose a branch with daybook cluster adopt/)
    }
    await assert.rejects(moveFromEngine(folders.settings('b')), /the log has forked/)
    await assert.rejects(moveFromEngine(folders.settings('a')), /the log has forked/)
  })

  test('lists before it what each choice would lose', async () => {
    using folders = await openForked()
    const { dataDirectory } = folders.settings('a')
    assert.throws(() => reclaimDrafts(dataDirectory, null), /--adopted ours or --adopted engine/)
    assert.deepEqual(refsIn(reclaimDrafts(dataDirectory, 'ours').lost), ['of b'])
    assert.deepEqual(refsIn(reclaimDrafts(dataDirectory, 'engine').lost), ['of a'])
    assert.throws(
      () => reclaimDrafts(folders.settings('late').dataDirectory, null),
      /no evidence of a fork: run this in the directory of a node that has stopped/,
    )
  })

  test('is refused for the wrong branch, without a fork, without an engine, and twice', async () => {
    using folders = await openForked()
    await assert.rejects(adopt(folders, 'a', 'ours'), /there is no stream 2/)
    folders.make(2).setComplaints(['it has one replica'])
    await assert.rejects(adopt(folders, 'a', 'ours'), /stream 2 is not ready: it has one replica/)
    folders.make(2)
    await assert.rejects(
      adopt(folders, 'a', 'engine'),
      /another branch than this directory: adopt the branch ours here/,
    )
    await assert.rejects(
      adopt(folders, 'b', 'ours'),
      /has the log of this directory: adopt the branch engine here/,
    )
    await assert.rejects(adopt(folders, 'late', 'engine'), /this node knows of no fork: start it/)
    const away = {
      ...folders.settings('a'),
      branch: 'ours',
      connect: () => Promise.reject(new EngineError('away')),
    } as const
    await assert.rejects(adoptBranch(away), /away/)
    await adopt(folders, 'b', 'engine')
    await assert.rejects(adopt(folders, 'a', 'ours'), /stream 2 has begun already: another node has adopted/)
  })
})

/** A connection of a process that is killed before the step with this number, or before its answer. */
function killer(
  connect: (stream: number) => Promise<EngineConnection>,
  step: number,
  isAnswerLost: boolean,
): Readonly<{ connect(stream: number): Promise<EngineConnection> }> {
  let steps = 0
  async function run<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    steps += 1
    if (steps === step && !isAnswerLost) throw new Error('killed')
    const answer = await ask()
    if (steps === step) throw new Error('killed')
    return answer
  }
  return {
    async connect(stream) {
      const connection = await run(() => connect(stream))
      const { log } = connection
      return {
        ...connection,
        log: {
          ...log,
          append: (place, bytes) => run(() => log.append(place, bytes)),
          read: (from, bytesMax) => run(() => log.read(from, bytesMax)),
          last: () => run(() => log.last()),
        },
      }
    },
  }
}
