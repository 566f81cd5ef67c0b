import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { BUNDLED, openAssets, openScripts } from './assets.ts'

const WEB = join(import.meta.dirname, '..')
const STYLE = join(WEB, 'style')

suite('the files that pages load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-assets-'))
  test.after(() => rmSync(folder, { recursive: true }))

  test('are made once, and again after a failure', async () => {
    const assets = openAssets(openScripts(folder), folder)
    await assert.rejects(assets(), /headings\.woff2/)
    for (const part of ['style', 'fonts']) cpSync(join(WEB, part), join(folder, part), { recursive: true })
    mkdirSync(join(folder, BUNDLED))
    const made = await assets()
    assert.match(made.path('style.css'), /^\/assets\/style\.[0-9a-f]+\.css$/)
    assert.equal(await assets(), made)
  })

  test('contain every part of the style sheets once, without comments, line breaks and idle space', async () => {
    const { files } = await openAssets(() => Promise.resolve([]))()
    const [served = '', printed = ''] = ['style.css', 'print.css'].map((name) =>
      new TextDecoder().decode(files.get(name)?.body),
    )
    const written = (style: string): string =>
      style
        .replaceAll(/\/\*[^]*?\*\//g, '')
        .replaceAll(/\s/g, '')
        .replaceAll(';}', '}')
    const parts = readdirSync(STYLE).map((name) => written(readFileSync(join(STYLE, name), 'utf8')))
    const sheets = written(served + printed).replace(
      /url\(\/assets\/headings\.[0-9a-f]+\.woff2\)/,
      'url(headings.woff2)',
    )
    for (const part of parts) assert.ok(sheets.includes(part))
    assert.equal(sheets.length, parts.join('').length)
    assert.doesNotMatch(served + printed, /\n|\/\*/)
    assert.match(served, /@media \(min-width:56\.25rem\)\{/)
    assert.match(served, /content:attr\(data-label\) ' '/)
  })
})
