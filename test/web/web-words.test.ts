import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const pageOf = async (path: string): Promise<string> =>
  (await (await stage.get(path)).text()).replaceAll(/\s+/g, ' ')

suite('the text of a page', () => {
  for (const path of ['/summary?at=2026-09-01', '/patterns?from=2026-09-01&to=2026-09-02']) {
    test(`says that a moment is before the first event: ${path}`, async () => {
      const page = await pageOf(path)
      assert.match(page, /<p class="as-of">\s*<span>Before the first event\.<\/span>/)
      assert.doesNotMatch(page, /No event has been published yet/)
    })
  }

  test('of an empty log says that nothing has been published', async () => {
    await using empty = await openApiStage({ story: [] })
    const page = await (await empty.get('/summary')).text()
    assert.match(page, /<p class="as-of">\s*<span>No event has been published yet\.<\/span>/)
  })

  test('names the moments of the newest event and of its age', async () => {
    const page = await pageOf('/status')
    const minute = page.indexOf('<dt>Answered at</dt>')
    const age = page.indexOf('<dt>Age of newest event</dt>')
    assert.ok(minute > 0 && minute < age)
  })

  test('names the moment of a day, a week or another bucket', async () => {
    const most = async (query: string): Promise<string> => {
      const text = (await pageOf(`/flows${query}`)).replaceAll(/<[^>]*>/g, '')
      return /Most was paid [^:]*:/.exec(text)?.[0] ?? ''
    }
    assert.equal(await most(''), 'Most was paid on 1 Oct 2026:')
    assert.equal(await most('?bucket=week'), 'Most was paid in the week that began on 28 Sep 2026:')
    assert.equal(
      await most('?from=2026-10-01&to=2026-10-02&bucket=hour'),
      'Most was paid in the hour from 1 Oct 00:',
    )
  })

  test('about shades is true in the light and the dark theme', async () => {
    const page = await pageOf('/patterns')
    assert.match(page, /<p class="source shades"> A stronger colour means more:/)
    assert.doesNotMatch(page, /darker/)
  })

  test('has no licence and contact if the operator states none', async () => {
    assert.doesNotMatch(await pageOf('/about'), /Licence and contact/)
    await using stated = await openApiStage({ site: { contact: 'mailto:operator@contest.example' } })
    assert.match(await (await stated.get('/about')).text(), /Licence and contact/)
  })
})
