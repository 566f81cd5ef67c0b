import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

async function see(path: string, of: ApiStage = stage): Promise<string> {
  const page = await (await of.get(path)).text()
  assertParity(page, await Promise.all(sourcesOf(page).map(async (source) => (await of.get(source)).text())))
  return page
}

/** Texts of the cells in a figure's row. */
function rowOf(page: string, label: string): readonly string[] {
  const row = new RegExp(`<tr data-key="${label}">([^]*?)</tr>`).exec(page)?.[1] ?? ''
  return [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell = '']) =>
    cell.replaceAll(/<[^>]*>|\s/g, ''),
  )
}

suite('the comparison of then and now', () => {
  test('has each figure of both moments, and the difference', async () => {
    const page = await see('/compare?at=2026-10-01T00:03:30Z')
    assert.deepEqual(rowOf(page, 'Spent on play, KOTS'), ['10.500000000', '12.750000000', '+2.250000000'])
    assert.deepEqual(rowOf(page, 'Treasury, KOTS'), ['1,010.500000000', '911.749999999', '-98.750000001'])
    assert.deepEqual(rowOf(page, 'Events'), ['4', '13', '+9'])
    assert.deepEqual(rowOf(page, 'Contests running'), ['1', '0', '-1'])
    assert.deepEqual(rowOf(page, 'Loyalty fund, KOTS'), ['0.000000000', '0.000000000', '0.000000000'])
    assert.deepEqual(rowOf(page, 'Token price, USD'), ['notknown', 'notknown', 'notknown'])
  })

  test('links both answers of the API', async () => {
    const page = await see('/compare?at=2026-10-01T00:03:30Z')
    assert.deepEqual(sourcesOf(page), ['/api/v1/summary', '/api/v1/summary?at=2026-10-01T00:03:30Z'])
    assert.match(page, /data-expr="minus \/api\/v1\/summary#\/plays \/api\/v1\/summary\?at=[^#]*#\/plays"/)
    assert.match(
      page,
      /<a href="\/events\?after=4"\s*><span[^>]*><data value="9">9<\/data><\/span> events were published since<\/a\s*>/,
    )
  })

  test('is never cached, since the present changes', async () => {
    const path = '/compare?at=2026-10-01T00:03:30Z'
    await using other = await openApiStage()
    const first = await other.get(path)
    assert.equal(first.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    other.trade(1)
    const again = await other.get(path, { 'If-None-Match': first.headers.get('etag') ?? '' })
    assert.equal(again.status, 200)
    assert.deepEqual(rowOf(await again.text(), 'Events'), ['4', '14', '+10'])
  })

  test('compares with a day earlier by default', async () => {
    assert.match(
      await see('/compare'),
      /<a href="\/summary\?at=2026-09-30T00:12:00\.000Z">before the first event/,
    )
  })

  test('is linked from a past summary, and its form works', async () => {
    const past = await (await stage.get('/summary?at=2026-10-01T00:05Z')).text()
    assert.match(past, /<a class="button" href="\/compare\?at=2026-10-01T00:05Z">Compare with now<\/a>/)
    const response = await stage.get('/compare?at=2026-10-01T00%3A05')
    assert.match(response.url, /\/compare\?at=2026-10-01T00%3A05Z$/)
    assert.equal(response.status, 200)
  })

  test('with a future moment redirects to the summary, which refuses it', async () => {
    const response = await stage.get('/compare?at=2099-01-01')
    assert.match(response.url, /\/summary\?at=2099-01-01$/)
    assert.equal(response.status, 400)
  })

  test('with the present moment says that nothing was published in between', async () => {
    assert.match(await see('/compare?at=2026-10-02'), /Nothing has been published since\./)
  })

  test('of an empty log says that there is nothing to compare', async () => {
    await using empty = await openApiStage({ story: [] })
    assert.match(await (await empty.get('/compare')).text(), /nothing to compare/)
  })
})
