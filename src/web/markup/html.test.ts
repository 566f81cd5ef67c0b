import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
import { canonicalQuery } from './form-query.ts'
import { html, jsonBlock } from './html.ts'
import { formatCsv } from '../../serve/http/csv.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}
const read = (text: string): string =>
  text.replaceAll(/&[a-z0-9#]+;/g, (entity) => ENTITIES[entity] ?? entity)

suite('a template', () => {
  test('escapes any text between tags or in an attribute, and loses none of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints }), (text) => {
        const { markup } = html`<p title="${text}">${text}</p>`
        const match = /^<p title="([^"<>']*)">([^<>"']*)<\/p>$/s.exec(markup)
        assert.ok(match !== null)
        assert.equal(read(match[1] ?? ''), text)
        assert.equal(read(match[2] ?? ''), text)
      }),
    )
  })

  test('takes markup, lists, numbers and null unchanged', () => {
    assert.equal(html`${null}${1}${[html`<b>${'<'}</b>`, 'a&b']}`.markup, '1<b>&lt;</b>a&amp;b')
  })

  test('holds JSON that cannot end its script element', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { markup } = jsonBlock('application/ld+json', value)
        const inner = markup.slice(markup.indexOf('>') + 1, -'</script>'.length)
        assert.ok(!inner.includes('<'))
        assert.equal(inner.replaceAll(String.raw`\u003c`, '<'), JSON.stringify(value))
      }),
    )
  })
})

suite('a CSV export', () => {
  test('keeps numbers, quotes cells where needed, and prevents formulas', () => {
    const rows = [
      ['-1.000000000', 7, null],
      ['=SUM(A1)', 'a "b", c', true],
      ['-x', '+1', '@y'],
      [' =1', '\u00a0\u3000-x', ' -1'],
      ['\tx', '\r=1', '\uff1d1'],
      [' x', 'a=b', ''],
    ]
    assert.equal(
      formatCsv({ columns: ['a', 'b', 'c'], rows, next: null }),
      `a,b,c\r\n-1.000000000,7,\r\n'=SUM(A1),"a ""b"", c",true\r\n'-x,'+1,'@y\r\n' =1,'\u00a0\u3000-x,' -1\r\n'\tx,"'\r=1",'\uff1d1\r\n x,a=b,\r\n`,
    )
  })
})

suite('the query of a form', () => {
  test('is unchanged when no form made it', () => {
    for (const raw of ['', 'a', 'from=2026-10-01', 'type=a,b&nonzero=1'])
      assert.equal(canonicalQuery(raw), raw)
  })

  test('loses blank fields, and joins checkboxes of one name to a list', () => {
    assert.equal(canonicalQuery('a=&type=play&b=1&type=burn'), 'type=play,burn&b=1')
    for (const raw of ['q=+', 'q=%20%20', 'q=&sort=']) assert.equal(canonicalQuery(raw), '')
  })

  test('keeps repeated parameters that are not lists, which the API refuses', () => {
    for (const raw of ['bucket=day&bucket=hour', 'from=1&bucket=day&from=2'])
      assert.equal(canonicalQuery(raw), raw)
    assert.equal(canonicalQuery('from=1&to=&type=play&from=2&type=burn'), 'from=1&type=play,burn&from=2')
  })
})
