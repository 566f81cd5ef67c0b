import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../stage/api-stage.ts'
import { openApiStage } from '../stage/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const plain = (text: string): string => text.replaceAll('&amp;', '&')
const pageOf = async (path: string): Promise<string> => plain(await (await stage.get(path)).text())

/** Query of a form after a change of one field. */
function sentBy(page: string, changed: Readonly<Record<string, string>>): string {
  const form = /<form class="ask"[^]*?<\/form>/.exec(page)?.[0] ?? ''
  const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return new URLSearchParams({ ...Object.fromEntries(fields), ...changed }).toString()
}

suite('the form of a range', () => {
  for (const path of ['/flows', '/funds']) {
    for (const bucket of ['hour', 'minute', 'week', 'month']) {
      test(`of ${path} is valid with only its bucket changed to ${bucket}`, async () => {
        const sent = sentBy(await pageOf(`${path}?from=2026-10-03`), { bucket })
        const response = await stage.get(`${path}?${sent}`)
        const page = plain(await response.text())
        if (response.status === 200) return
        const [, fitting] = /<a href="([^"]*)">The same range by \w+<\/a>/.exec(page) ?? []
        assert.ok(fitting, page)
        assert.equal((await stage.get(fitting)).status, 200, `${path}?${sent}`)
      })
    }
  }

  test('keeps an end in the past', async () => {
    assert.match(await pageOf('/flows?from=2026-10-01&to=2026-10-02'), /name="to" value="2026-10-02T00:00"/)
  })

  test('keeps the shown bucket', async () => {
    const shown = await pageOf('/flows')
    const again = await pageOf(`/flows?${sentBy(shown, { bucket: 'day' })}`)
    const cited = /data-cite href="([^"]*)"/
    assert.equal(cited.exec(again)?.[1], cited.exec(shown)?.[1])
  })
})

suite('the preset ranges of a page', () => {
  test('begin at the launch at the earliest, and each is offered once', async () => {
    const page = await pageOf('/flows')
    const links = [...page.matchAll(/<a href="\/flows\?from=([^&]*)&to=[^&]*&bucket=(\w+)"/g)]
    const offered = links.map(([, from, bucket]) => `${bucket} ${from}`)
    assert.deepEqual(offered, [
      'hour 2026-10-02T01:00:00.000Z',
      'hour 2026-10-01T00:00:00.000Z',
      'day 2026-10-01T00:00:00.000Z',
    ])
  })

  test('explain zeros before the launch', async () => {
    for (const path of ['/flows', '/funds']) {
      assert.match(await pageOf(`${path}?from=2026-07-01&to=2026-10-02`), /The log begins at <time/)
    }
    assert.doesNotMatch(await pageOf('/flows?from=2026-10-01&to=2026-10-02'), /The log begins at/)
  })
})

suite('a refused range', () => {
  test('that ends in the future links the same range up to now', async () => {
    const page = await pageOf('/flows?from=2026-10-01&to=2099-01-01&bucket=hour')
    const [, href = ''] = /<a href="([^"]*)">The same range up to now<\/a>/.exec(page) ?? []
    assert.match(href, /^\/flows\?from=2026-10-01&to=2026-10-03T00:01:00\.000Z&bucket=hour$/)
    assert.equal((await stage.get(href)).status, 200)
  })

  test('that begins in the future links only the page itself', async () => {
    const page = await pageOf('/flows?from=2098-01-01&to=2099-01-01')
    assert.doesNotMatch(page, /The same range up to now/)
  })

  test('of too many buckets also links the latest of these buckets', async () => {
    const page = await pageOf('/flows?from=2020-01-01&to=2026-10-01&bucket=minute')
    const [, href] = /<a href="([^"]*)">The latest by minute<\/a>/.exec(page) ?? []
    assert.ok(href, page)
    assert.equal((await stage.get(href)).status, 200)
  })
})
