import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { DetailedEvent } from '../../src/client/event-details.ts'
import { type EventFilter, isWanted } from '../../src/client/filter.ts'
import type { StreamStatus } from '../../src/client/stream.ts'
import { DAY_MS } from '../../src/protocol/moment.ts'
import { type ClientStage, LAUNCH_MS, linesOf, openStage } from '../stage/client-stage.ts'
import { type ModelService, openModelService } from '../stage/model-service.ts'
import { until } from '../stage/stream-client.ts'

suite('the client, from a real service,', () => {
  /** Events of the first month. */
  let first = 0
  let opened: Readonly<{ service: ModelService; stage: ClientStage }> | undefined
  before(async () => {
    const service = await openModelService(LAUNCH_MS)
    opened = { service, stage: await openStage(service) }
    await opened.stage.publish(300)
    first = opened.stage.model.head()
    await opened.stage.publish(60, 40 * DAY_MS)
  })
  after(async () => opened?.service[Symbol.asyncDispose]())
  const stageOf = (): ClientStage => opened?.stage ?? assert.fail('the service runs')

  test('has a method for every endpoint, which returns its answer', async () => {
    const { daybook, model } = stageOf()
    const head = model.head()
    assert.equal((await daybook.summary()).asOf.seq, head)
    assert.equal((await daybook.summary({ at: LAUNCH_MS })).asOf.seq, 0)
    const { contests } = await daybook.contests({ status: ['running'], limit: 3 })
    const [contest] = contests
    assert.ok(contest !== undefined)
    assert.equal((await daybook.contest(contest.id)).title, contest.title)
    assert.equal((await daybook.contestLedger(contest.id)).contest.id, contest.id)
    assert.equal((await daybook.schedule()).closes.length > 0, true)
    assert.match(await daybook.scheduleCalendar(), /^BEGIN:VCALENDAR/)
    assert.deepEqual((await daybook.payouts({ contestId: contest.id })).unpaid, [])
    assert.equal((await daybook.flows({ bucket: 'day', from: new Date(LAUNCH_MS) })).bucket, 'day')
    assert.equal((await daybook.funds({ to: LAUNCH_MS })).buckets.length > 0, true)
    assert.deepEqual((await daybook.loyaltyRuns()).runs, [])
    assert.equal((await daybook.patterns({ tz: 120 })).cells.length, 168)
    assert.equal(JSON.stringify(await daybook.event(7)), model.lines[6])
    assert.equal((await daybook.eventDetails(7)).seq, 7)
    assert.equal((await daybook.eventCorrections(7)).asOf.seq, head)
    assert.equal((await daybook.page({ order: 'desc', limit: 1 })).events[0]?.seq, head)
    assert.equal((await daybook.archive()).months.length, 2)
    assert.equal((await daybook.eventTypes()).types.length, 13)
    assert.equal((await daybook.openapi())['openapi'], '3.1.0')
    assert.equal((await daybook.status()).head.seq, head)
    await assert.rejects(daybook.event(head + 1), { code: 'event-not-found', status: 404 })
    await assert.rejects(
      daybook.contests({ limit: 0 }),
      (error: { code: string; errors: { parameter: string }[] }) => {
        assert.deepEqual([error.code, error.errors[0]?.parameter], ['invalid-parameter', 'limit'])
        return true
      },
    )
  })

  test('reads the log line for line, from pages, files and both', async () => {
    const { daybook, model } = stageOf()
    const events = await Array.fromAsync(daybook.events({ limit: 37 }))
    assert.deepEqual(linesOf(events), model.lines)
    const back = await Array.fromAsync(daybook.events({ limit: 100, order: 'desc' }))
    assert.deepEqual(linesOf(back.toReversed()), model.lines)
    const votes = await Array.fromAsync(daybook.events({ type: ['play'], kind: 'vote', nonzero: true }))
    assert.ok(votes.length > 0 && votes.every(({ type, kind }) => type === 'play' && kind === 'vote'))
    const { months } = await daybook.archive()
    const files = await Promise.all(months.map(({ month }) => Array.fromAsync(daybook.month(month))))
    assert.deepEqual(linesOf(files.flat()), model.lines)
    await assert.rejects(Array.fromAsync(daybook.month('1999-01')), { code: 'month-not-found' })
  })

  test('filters the log as the service does', async () => {
    const { daybook } = stageOf()
    const all = await Array.fromAsync(daybook.events())
    const filters: readonly EventFilter[] = [
      { type: ['play'] },
      { type: ['trade', 'contest'], nonzero: true },
      { kind: 'vote' },
      { contestId: 2 },
      { contestId: 1, kind: 'entry', nonzero: true },
      { nonzero: true },
      { type: [] },
    ]
    for (const filter of filters) {
      const asked = await Array.fromAsync(daybook.events(filter))
      assert.deepEqual(
        asked,
        all.filter((event) => isWanted(filter, event)),
      )
      assert.ok(asked.length > 0)
    }
  })

  test('starts to follow at a month or a moment', async () => {
    const { daybook, model } = stageOf()
    for (const from of ['2026-06', new Date(Date.UTC(2026, 5, 1)), Date.UTC(2026, 5, 1)]) {
      for await (const event of daybook.follow({ from })) {
        assert.equal(JSON.stringify(event), model.lines[first])
        break
      }
    }
  })

  test('yields each event with its details, from pages, files and streams, across a restart', async () => {
    const { service, daybook, publish, model } = stageOf()
    const stop = new AbortController()
    const { signal } = stop
    const streamed: DetailedEvent[] = []
    const followed: DetailedEvent[] = []
    const loops = [
      (async () => {
        for await (const one of daybook.stream({ after: 0, details: true, signal })) streamed.push(one)
      })(),
      (async () => {
        for await (const one of daybook.follow({ details: true, signal })) followed.push(one)
      })(),
    ]
    await until(() => streamed.length === model.head() && followed.length === model.head())
    await service.restart()
    await publish(40)
    await until(() => streamed.length === model.head() && followed.length === model.head())
    stop.abort()
    for (const loop of loops) await assert.rejects(loop, { name: 'AbortError' })
    const read = await Array.fromAsync(daybook.events({ details: true, limit: 37 }))
    const { months } = await daybook.archive()
    const files = await Promise.all(
      months.map(({ month }) => Array.fromAsync(daybook.month(month, { details: true }))),
    )
    assert.deepEqual(linesOf(read.map(({ event }) => event)), model.lines)
    const own = read.filter(({ details }) => details !== null)
    assert.ok(own.length > 0 && own.length < read.length)
    for (const { event, details } of own.slice(0, 20)) {
      assert.deepEqual(details, (await daybook.eventDetails(event.seq)).details)
    }
    for (const other of [streamed, followed, files.flat()]) assert.deepEqual(other, read)
    const contest = own.find(({ event }) => event.type === 'contest')
    const contests = await Array.fromAsync(daybook.events({ type: ['contest'], details: true, limit: 1 }))
    assert.deepEqual(
      contests,
      read.filter(({ event }) => event.type === 'contest'),
    )
    assert.ok(contest?.details?.opensAtMs !== undefined)
  })

  test('follows the log across restarts, each event once and in order', async () => {
    const { service, daybook, publish, model } = stageOf()
    const statuses: StreamStatus[] = []
    const [all, live]: string[][] = [[], []]
    const stop = new AbortController()
    const { signal } = stop
    const isLive = (): boolean => statuses.at(-1)?.state === 'live'
    const loops = [
      (async () => {
        const onStatus = (status: StreamStatus): void => void statuses.push(status)
        for await (const event of daybook.follow({ signal, onStatus })) all?.push(JSON.stringify(event))
      })(),
      (async () => {
        for await (const event of daybook.stream({ after: 100, signal })) live?.push(JSON.stringify(event))
      })(),
    ]
    for (let round = 0; round < 2; round++) {
      await until(() => isLive() && all?.length === model.head())
      await publish(40)
      await until(() => all?.length === model.head())
      await service.restart()
      await publish(70)
      await until(() => all?.length === model.head())
    }
    await until(() => live?.length === model.head() - 100)
    stop.abort()
    for (const loop of loops) await assert.rejects(loop, { name: 'AbortError' })
    assert.deepEqual(all, model.lines)
    assert.deepEqual(live, model.lines.slice(100))
    assert.equal(statuses.at(-1)?.state, 'ended')
  })
})
