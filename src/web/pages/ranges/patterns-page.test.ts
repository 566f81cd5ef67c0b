import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { offsetSelect, offsetText } from './patterns-page.ts'
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
    const pictures = page.match(/<svg\s+class="plot inset"[^]*?<\/svg>\s*<text/g) ?? []
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

suite('an offset from UTC', () => {
  const written: readonly (readonly [minutes: number, text: string])[] = [
    [0, '+00:00'],
    [345, '+05:45'],
    [-570, '-09:30'],
    [840, '+14:00'],
    [-840, '-14:00'],
    [7, '+00:07'],
  ]
  for (const [minutes, text] of written) {
    test(`of ${minutes} minutes is written ${text}`, () => assert.equal(offsetText(minutes), text))
  }

  const valuesOf = (chosen: number): readonly string[] =>
    [...offsetSelect(chosen).markup.matchAll(/value="(-?\d+)"/g)].map(([, value = '']) => value)

  test('can be any that a time zone uses, from -14:00 to +14:00 in order', () => {
    const values = valuesOf(0).map(Number)
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
    )
    assert.equal(values.at(0), -840)
    assert.equal(values.at(-1), 840)
    for (const part of [-570, -210, 330, 345, 525, 765]) assert.ok(values.includes(part), offsetText(part))
  })

  test('that no time zone uses is a choice only when the query has it', () => {
    assert.ok(!valuesOf(0).includes('7'))
    assert.match(offsetSelect(7).markup, /value="7" selected/)
  })
})
