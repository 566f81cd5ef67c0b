import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { run } from '../stage/command-stage.ts'
import { startNode } from '../stage/node-process.ts'
import { openCampaign } from '../torture/campaign.ts'
import { openFolder } from '../story/damaged-log.ts'

const CAMPAIGN = openCampaign('two-servers')
const TRADE = { ref: 'a', type: 'trade', kind: 'buy', kots: '1' }

suite('a data directory', () => {
  test('is locked by its service against a second server, an import and a check, until a crash', async () => {
    using folder = openFolder()
    const data = join(folder.path, 'data')
    const file = join(folder.path, 'drafts.jsonl')
    writeFileSync(file, `${JSON.stringify({ ...TRADE, at: '2026-10-01T00:00:00.000Z' })}\n`)
    const log = ['--data', data, '--chain', 'opaque']
    const commands = [
      ['serve', ...log, '--port', '0', '--publish-port', '0'],
      ['import', file, ...log],
      ['check', '--data', data],
    ]
    const first = await startNode(data)
    assert.equal((await first.publish([TRADE])).status, 200)

    for (const { code, stderr, name } of await Promise.all(
      commands.map(async (words) => ({ name: words[0], ...(await run(words)) })),
    )) {
      assert.equal(code, 1, `${name} ended with ${code}: ${stderr}`)
      assert.match(
        stderr,
        /^daybook: .*data: another process uses this data directory: stop it, or choose another folder with --data$/m,
        String(name),
      )
      assert.doesNotMatch(stderr, /\n\s+at /, 'a message, not a stack')
    }
    const again = await first.publish([{ ...TRADE, ref: 'b' }])
    assert.equal(again.status, 200, 'the first service continues')

    assert.equal((await first.end('SIGKILL')).signal, 'SIGKILL')
    const second = await startNode(data)
    const [receipt] = (await second.publish([TRADE])).drafts
    assert.deepEqual(receipt, { ref: 'a', status: 'duplicate', seq: 1 })
    assert.equal((await second.end('SIGTERM')).code, 0)
    const checked = await run(['check', '--data', data])
    assert.equal(checked.code, 0, checked.stderr)
  })

  test(
    'is served by one of two servers that start at the same moment, and the other says why not',
    { timeout: 60_000 + CAMPAIGN.size * 30_000 },
    async (t) => {
      using folder = openFolder()
      const data = join(folder.path, 'data')
      const seen = { served: 0, refused: 0, killed: 0 }
      for (let round = 0; round < CAMPAIGN.size; round++) {
        // The first round makes the log. Later ones find what a server left that was stopped or killed.
        const starts = await Promise.allSettled([startNode(data), startNode(data)])
        const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
        try {
          const reasons = starts.flatMap((start) =>
            start.status === 'rejected' ? [String(start.reason)] : [],
          )
          assert.equal(nodes.length, 1, reasons.join('\n'))
          assert.match(reasons[0] ?? '', /data: another process uses this data directory/)
          const answer = await nodes[0]?.publish([{ ...TRADE, ref: `round-${round}` }])
          assert.deepEqual(
            answer?.drafts.map(({ seq }) => seq),
            [round + 1],
          )
        } finally {
          const signal = CAMPAIGN.random.chance(0.5) ? 'SIGKILL' : 'SIGTERM'
          await Promise.all(nodes.map((node) => node.end(signal)))
          seen.killed += signal === 'SIGKILL' ? 1 : 0
        }
        seen.served += 1
        seen.refused += 1
      }
      const checked = await run(['check', '--data', data])
      assert.equal(checked.code, 0, checked.stderr)
      CAMPAIGN.finish(
        t,
        { rounds: CAMPAIGN.size, ...seen },
        { served: CAMPAIGN.size, refused: CAMPAIGN.size },
      )
    },
  )
})
