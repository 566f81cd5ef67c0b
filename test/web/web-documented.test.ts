import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { pagePath } from '../../src/web/frame/page-routes.ts'
import { PAGES } from '../../src/web/pages/pages.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { textOf } from '../stage/document.ts'
import { ADDRESSES } from './parity/web-addresses.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

/** Columns in the documents, by path of the page: the tables of lists are in PROTOCOL.md, the others in docs/pages.md. */
const documents = textOf('PROTOCOL.md') + textOf('docs/pages.md')
const published = new Map(
  [...documents.matchAll(/^\| `(\/(?!api\/)\S*)` \| [^|]+ \| ([^|]+) \|$/gm)].map(
    ([, path = '', columns = '']) => [path, columns.split(' ')],
  ),
)

suite('PROTOCOL.md or docs/pages.md has the columns of', () => {
  const pages = PAGES.filter((page) => page.csv !== undefined && pagePath(page) !== '/')
  for (const path of pages.map(pagePath)) {
    test(path, async () => {
      const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}$`)
      const address = ADDRESSES.find((one) => form.test(one))
      assert.ok(address !== undefined, 'the page has an address without a question in the walk')
      const about = (await (await stage.get(`${address}.metadata.json`)).json()) as { columns: string[] }
      assert.deepEqual(published.get(path), about.columns)
    })
  }

  test('no unknown page', () => {
    const paths = new Set(pages.map(pagePath))
    assert.deepEqual(
      [...published.keys()].filter((path) => !paths.has(path)),
      [],
    )
  })
})
