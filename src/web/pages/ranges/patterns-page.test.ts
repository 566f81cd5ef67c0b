import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import type { Patterns } from '../../../protocol/endpoints/figure-endpoints.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const textOf = async (path: string): Promise<string> => (await stage.get(path)).text()
const jsonOf = async <Answer>(path: string): Promise<Answer> => JSON.parse(await textOf(path)) as Answer

suite('the patterns', () => {
  test('have a table of 7 days by 24 hours, and a picture for every other measure and kind of play', async () => {
    const page = await textOf('/patterns')
    const { byDay } = await jsonOf<Patterns>('/api/v1/patterns')
    const kinds = Object.keys(byDay[0]?.byKind ?? {})
    assert.deepEqual(kinds, ['entry', 'vote'])
    const table = /<table class="heat">[^]*?<\/table>/.exec(page)?.[0] ?? ''
    assert.equal(table.match(/<td\s+class="h[0-4]"/g)?.length, 7 * 24)
    assert.equal(table.match(/<th scope="row"/g)?.length, 7)
    const pictures = page.match(/<svg\s+class="plot week"[^]*?<\/svg>\s*<text/g) ?? []
    assert.equal(pictures.length, 3 + kinds.length)
    for (const picture of pictures) {
      // Each row is 24 cells wide.
      const widths = [...picture.matchAll(/M\d+,\d+h(\d+)v/g)].map(([, width]) => Number(width))
      assert.equal(
        widths.reduce((sum, width) => sum + width, 0),
        7 * 24,
      )
    }
  })

  test('say when most was spent', async () => {
    const page = await textOf('/patterns?from=2026-10-01&to=2026-10-02&tz=345')
    // 2026-10-01 00:00 UTC is Thursday, 05:45 at this offset.
    const heading = (/<h1>([^]*?)<\/h1>/.exec(page)?.[1] ?? '')
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
    assert.equal(heading, 'Players spend most on Thursdays from 05:00 to 06:00.')
  })

  test('of a range without play say that nothing was spent', async () => {
    assert.match(
      await textOf('/patterns?from=2026-09-01&to=2026-09-02'),
      /Nothing was spent on play in this range\./,
    )
  })

  test('have a CSV with a row for each hour, then for each kind of play in it', async () => {
    const { cells } = await jsonOf<Patterns>('/api/v1/patterns')
    const [head, ...rows] = (await textOf('/patterns.csv')).trimEnd().split('\r\n')
    assert.equal(head, 'day,hour,spentOnPlay,paidInPrizes,burned,plays,kind,byKind')
    assert.equal(rows.length, 168 * 3)
    const cell = cells.find(({ plays }) => plays > 0)
    assert.ok(cell !== undefined)
    const { day, hour, spentOnPlay, paidInPrizes, burned, plays, byKind } = cell
    assert.ok(rows.includes(`${day},${hour},${spentOnPlay},${paidInPrizes},${burned},${plays},,`))
    assert.ok(rows.includes(`${day},${hour},,,,,vote,${byKind['vote']}`))
  })
})
