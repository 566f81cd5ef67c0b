import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { PAGE_NOTICE } from '../../src/web/markup/site.ts'
import { textOf } from '../stage/document.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { plain } from '../web/parity/page-tree.ts'
import { ADDRESS_PROMISE, GUARD_HOLDS, GUARD_LIMITS } from '../../src/protocol/address-guard.ts'

/** A document's words, without marks of code and strong type. */
const words = (text: string) => text.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ')

suite('what the address guard holds and does not hold', () => {
  test('is said in PROTOCOL.md', () => {
    const said = words(textOf('PROTOCOL.md'))
    assert.ok(said.includes(GUARD_HOLDS))
    assert.ok(said.includes(GUARD_LIMITS))
  })

  test('is said on /about in the same words', async () => {
    await using stage = await openApiStage()
    const said = plain(await (await stage.get('/about')).text()).replaceAll(/\s+/g, ' ')
    for (const text of [ADDRESS_PROMISE, GUARD_HOLDS, GUARD_LIMITS]) assert.ok(said.includes(text), said)
  })

  test('is promised in README and on every page in the same short words, and no more is', () => {
    assert.ok(words(textOf('README.md')).includes(ADDRESS_PROMISE))
    assert.ok(words(textOf('PROTOCOL.md')).includes(ADDRESS_PROMISE))
    assert.ok(PAGE_NOTICE.endsWith(ADDRESS_PROMISE))
    for (const path of ['README.md', 'PROTOCOL.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/errors.md']) {
      assert.doesNotMatch(
        words(textOf(path)),
        /\bno (?:wallet )?address(?:es)? (?:is|are) published|no wallet addresses\b/i,
      )
    }
  })
})
