import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openCluster } from '../../../test/messages/book-cluster.ts'
import { msOf } from '../../protocol/moment.ts'
import { openReplicatedPath } from './replicated-path.ts'

suite('the path of commits to an engine', () => {
  test('takes nothing while the books lack events that the node has served', () => {
    using cluster = openCluster({ nodes: 1, asksChain: false, balances: 'refuse', now: () => msOf(0) })
    let hasServed = false
    let asked = 0
    const { path } = openReplicatedPath({
      book: cluster.node(0).book(),
      hasServed: () => hasServed,
      replica() {
        asked += 1
        return null
      },
      isDiskFull: () => false,
      onFull: assert.fail,
      onBroken: assert.fail,
    })
    const reasons: string[] = []
    const publish = (): void =>
      path.commit({ drafts: 1, build: assert.fail, durable: assert.fail, undone: assert.fail }, (end) => {
        assert.ok(end.is === 'failed' && !end.outcome.ok && end.outcome.code === 'behind')
        reasons.push(end.outcome.reason)
      })
    publish()
    assert.equal(asked, 0)
    hasServed = true
    publish()
    assert.equal(asked, 1)
    assert.match(reasons[0] ?? '', /^this node lacks events that it has served/)
  })
})
