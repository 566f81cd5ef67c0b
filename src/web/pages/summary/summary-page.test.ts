import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../../test/story/api-story.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { DAY_MS, HOUR_MS, msOf } from '../../../protocol/moment.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const see = async (path: string, on: ApiStage = stage): Promise<string> => (await on.get(path)).text()

suite('the summary', () => {
  test('shows each figure with its change in the day before now, signed', async () => {
    await using told = await openApiStage()
    told.setNow(msOf(LAUNCH + HOUR_MS))
    const page = await see('/summary', told)
    assert.match(page, /\+<span data-expr="minus \/spentOnPlay \/api\/v1\/summary\?at=[^#"]+#\/spentOnPlay">/)
    assert.match(page, /<tr data-key="Contests paying">\s*<th scope="row">Contests paying<\/th>/)
  })

  test('shows no change once the log has been silent for a day', async () => {
    await using quiet = await openApiStage()
    quiet.setNow(msOf(LAUNCH + 5 * DAY_MS))
    const page = await see('/summary', quiet)
    assertParity(page, await Promise.all(sourcesOf(page).map((source) => see(source, quiet))))
    assert.match(page, /data-expr="minus \/spentOnPlay [^"]+"><data value="0\.000000000"/)
  })

  test('has no slider before there is a moment to choose', async () => {
    assert.doesNotMatch(await see('/summary'), /data-slider/)
    await using later = await openApiStage()
    later.trade(60)
    assert.match(await see('/summary', later), /data-slider="present"/)
  })

  test('has a permalink with the moment of its last event', async () => {
    assert.match(await see('/summary'), /data-cite href="\/summary\?at=2026-10-01T00:12:00\.000Z"/)
  })

  test('links no moment before the launch, and the present links none after it', async () => {
    const page = await see('/summary')
    assert.doesNotMatch(page, /−1 day|\+1 hour/)
  })
})

suite('the summary of a past moment', () => {
  test('has immutable sources, and shows nothing of the present', async () => {
    const page = await see('/summary?at=2026-10-01T00:05Z')
    assert.match(page, /Past view: its figures do not change\./)
    assert.match(page, /Later corrections are not\s+applied/)
    assert.doesNotMatch(page, /Closing next|Opening next/)
    for (const source of sourcesOf(page)) {
      const kept = (await stage.get(source)).headers.get('cache-control') ?? ''
      assert.ok(kept.endsWith('immutable'), source)
    }
  })

  test('stays the same after later events', async () => {
    const path = '/summary?at=2026-10-02'
    await using later = await openApiStage()
    later.trade(2 * 24 * 60)
    const first = await (await later.get(path)).text()
    later.append([{ type: 'treasury', kind: 'deposit', kots: '5' }])
    assert.equal(await (await later.get(path)).text(), first)
  })

  test('links a later moment, and now', async () => {
    const page = await see('/summary?at=2026-10-01T00:05Z')
    assert.match(page, /href="\/summary\?at=2026-10-02T00:00Z">\+1 day<\/a>/)
    assert.match(page, /href="\/summary">Now<\/a>/)
  })

  test('of a moment before the launch states this, and links the launch', async () => {
    const page = await see('/summary?at=2026-09-01')
    assert.match(page, /At that moment nothing had been published\./)
    assert.match(page, /href="\/summary\?at=2026-10-01T00:00:00\.000Z"/)
  })

  test('in the future links the present', async () => {
    const page = await see('/summary?at=2099-01-01')
    assert.match(page, /<a [^>]*href="\/summary">/)
  })

  test('without a time zone, as a form sends it, is UTC', async () => {
    const url = `http://127.0.0.1:${stage.port}/summary?at=2026-10-01T00%3A05`
    const response = await fetch(url, { redirect: 'manual' })
    assert.equal(response.status, 303)
    assert.equal(response.headers.get('location'), '/summary?at=2026-10-01T00%3A05Z')
  })
})

suite('the summary of an empty log', () => {
  test('says that nothing has happened yet, and shows zeros', async () => {
    await using empty = await openApiStage({ story: [] })
    const page = await see('/summary', empty)
    assert.match(page, /Nothing has happened yet/)
    assert.match(page, /No event has been published yet\./)
    assert.doesNotMatch(page, /Travel in time/)
    assertParity(page, await Promise.all(sourcesOf(page).map((source) => see(source, empty))))
  })
})
