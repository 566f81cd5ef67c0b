import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { PAYOUT_MEANINGS } from '../../src/serve/describe/information.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { textOf } from '../stage/document.ts'

/** Words of a text without quotation marks and line breaks of Markdown. */
const words = (text: string): string => text.replaceAll(/^> ?/gm, '').replaceAll(/\s+/g, ' ')

suite('the three meanings of payout', () => {
  test('stand at the head of PROTOCOL.md', () => {
    const [head = ''] = textOf('PROTOCOL.md').split('## 1 ')
    assert.ok(words(head).includes(PAYOUT_MEANINGS))
  })

  test('stand at the head of the reference and of the OpenAPI document', async () => {
    await using stage = await openApiStage()
    const pageOf = async (path: string): Promise<string> => (await stage.get(path)).text()
    const [head = ''] = (await pageOf('/api')).split('<nav aria-label="Contents"')
    assert.ok(words(head.replaceAll(/<[^>]+>/g, '')).includes(PAYOUT_MEANINGS.replaceAll(/[`*]/g, '')), head)
    const [markdown = ''] = (await pageOf('/api.md')).split('\n## ')
    assert.ok(words(markdown).includes(PAYOUT_MEANINGS))
    const { info } = JSON.parse(await pageOf('/api/v1/openapi.json')) as { info: { description: string } }
    assert.ok(info.description.includes(PAYOUT_MEANINGS))
  })
})
