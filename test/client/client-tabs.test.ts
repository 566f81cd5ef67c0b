import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Daybook } from '../../src/client/daybook.ts'
import type { StreamStatus } from '../../src/client/stream.ts'
import { type SharedAsked, sharedStream } from '../../src/client/tabs.ts'
import { type ClientStage, LAUNCH_MS, linesOf, openStage } from '../stage/client-stage.ts'
import { openModelService } from '../stage/model-service.ts'
import { until } from '../stage/stream-client.ts'

type Tab = Readonly<{
  seen: string[]
  statuses: StreamStatus[]
  isLive: () => boolean
  close: () => Promise<void>
}>

/** A tab of a browser. Node has the same locks and channels. */
function openTab(daybook: Daybook, asked: SharedAsked = {}): Tab {
  const stop = new AbortController()
  const seen: string[] = []
  const statuses: StreamStatus[] = []
  const onStatus = (status: StreamStatus): void => void statuses.push(status)
  const loop = (async () => {
    for await (const event of sharedStream(daybook, { ...asked, onStatus, signal: stop.signal })) {
      seen.push(...linesOf([event]))
    }
  })()
  return {
    seen,
    statuses,
    isLive: () => statuses.at(-1)?.state === 'live',
    async close() {
      stop.abort()
      await assert.rejects(loop, { name: 'AbortError' })
    },
  }
}

suite('the tabs of a browser', () => {
  let stage: ClientStage | undefined
  before(async () => {
    stage = await openStage(await openModelService(LAUNCH_MS))
  })
  after(async () => stage?.service[Symbol.asyncDispose]())
  const stageOf = (): ClientStage => stage ?? assert.fail('the service runs')

  test('share one connection, and each has every event once', async () => {
    const { daybook, publish, model, streams } = stageOf()
    await publish(60)
    const head = model.head()
    const tabs = [openTab(daybook), openTab(daybook), openTab(daybook, { after: 10 }), openTab(daybook)]
    await until(() => tabs.every(({ isLive }) => isLive()))
    await publish(40)
    await until(() => tabs.every(({ seen }) => seen.at(-1) === model.lines.at(-1)))
    for (const [index, { seen }] of tabs.entries()) {
      assert.deepEqual(seen, model.lines.slice(index === 2 ? 10 : head))
    }
    assert.equal(streams(), 1)
    for (const tab of tabs) await tab.close()
    assert.equal(streams(), 0)
  })

  test('begin at their own moments, as a stream does', async () => {
    const { service, daybook, publish, model } = stageOf()
    await publish(20)
    const earlier = model.head()
    await publish(20, 60_000)
    const [from, head] = [service.nowMs(), model.head()]
    const [first, second] = [openTab(daybook, { from }), openTab(daybook, { from, after: earlier + 10 })]
    const third = openTab(daybook, { from, after: 'head' })
    await until(() => [first, second, third].every(({ isLive }) => isLive()))
    await publish(10)
    for (const [tab, begin] of [
      [first, earlier],
      [second, earlier + 10],
      [third, head],
    ] as const) {
      await until(() => tab.seen.length === model.head() - begin)
      assert.deepEqual(tab.seen, model.lines.slice(begin))
      await tab.close()
    }
  })

  test('lose no event when the leading tab closes, again and again', async () => {
    const { daybook, publish, model, streams } = stageOf()
    await publish(10)
    const head = model.head()
    const tabs = Array.from({ length: 4 }, () => openTab(daybook))
    await until(() => tabs.every(({ isLive }) => isLive()))
    for (const tab of tabs) {
      await publish(30)
      await until(() => tabs.at(-1)?.seen.length === model.head() - head)
      assert.deepEqual(tab.seen, model.lines.slice(head, head + tab.seen.length))
      await Promise.all([tab.close(), publish(5)])
    }
    assert.equal(streams(), 0)
  })

  test('filter independently, and survive a restart', async () => {
    const { service, daybook, publish, model } = stageOf()
    await publish(10)
    const head = model.head()
    const [all, votes] = [openTab(daybook), openTab(daybook, { type: ['play'], kind: 'vote' })]
    await until(() => all.isLive() && votes.isLive())
    await publish(60)
    await service.restart()
    await publish(60)
    const expected = model.lines.slice(head)
    const chosen = expected.filter((line) => line.includes('"type":"play","kind":"vote"'))
    await until(() => all.seen.length === expected.length && votes.seen.length === chosen.length)
    assert.deepEqual([all.seen, votes.seen], [expected, chosen])
    await all.close()
    await votes.close()
  })

  test('take over from a frozen tab', async () => {
    const { service, model } = stageOf()
    // Even shorter waits, because a tab counts as frozen after 75 seconds of silence.
    const { daybook, publish } = await openStage(service, { haste: 300, model })
    const frozen = new AbortController()
    const taken = assert.rejects(
      navigator.locks.request('daybook http://daybook.test', async () => {
        await new Promise((resolve) => frozen.signal.addEventListener('abort', resolve))
      }),
      { name: 'AbortError' },
    )
    const tab = openTab(daybook, { after: 0 })
    await publish(30)
    await until(() => tab.seen.length === model.head())
    assert.deepEqual(tab.seen, model.lines)
    await taken
    frozen.abort()
    await tab.close()
  })

  test('hear of no end when the leading tab loses its lock', async () => {
    const { daybook, publish, model, streams } = stageOf()
    await publish(10)
    const tabs = [openTab(daybook, { after: 0 }), openTab(daybook, { after: 0 })]
    await until(() => tabs.every(({ isLive }) => isLive()))
    const held = Promise.withResolvers<void>()
    const stolen = navigator.locks.request('daybook http://daybook.test', { steal: true }, () => held.promise)
    await until(() => streams() === 0)
    held.resolve()
    await stolen
    await publish(10)
    await until(() => tabs.every(({ seen }) => seen.length === model.head()))
    for (const tab of tabs) {
      assert.ok(tab.statuses.every(({ state }) => state !== 'ended'))
      await tab.close()
    }
  })
})
