import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
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
