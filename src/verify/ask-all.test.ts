import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import type { Change } from '../../test/story/public-log.ts'
import { publicLog } from '../../test/story/public-log.ts'
import type { Source } from './reading/source.ts'

const log = publicLog(RICH_LOG)
const SUMS = 'archive/SHA256SUMS'

suite('the questions to a service', () => {
  test('count each answer about a figure, and those that are known to come', async () => {
    const asked: (readonly [done: number, total: number])[] = []
    await auditOf(log, undefined, {
      onProgress: (stage, done, total) => stage === 'asking' && asked.push([done, total]),
    })
    assert.ok(asked.length > 20)
    assert.deepEqual(
      asked.map(([done]) => done),
      asked.map((_, index) => index + 1),
    )
    for (const [done, total] of asked) assert.ok(total > done, `${done} of ${total}`)
  })
})

suite('SHA256SUMS', () => {
  const sums = Buffer.from(log.body(SUMS) ?? []).toString()
  const changed = (text: string | undefined): Change => {
    const body = text === undefined ? undefined : Buffer.from(text)
    return (path, found) => (path === SUMS ? body : found)
  }
  const findings = async (is: Source['is'], change: Change): Promise<readonly string[]> =>
    findingLines(await auditOf(log, undefined, { source: { ...log.source(change), is } }))
  const other = sums.replace(/^\w/, (digit) => (digit === '0' ? '1' : '0'))
  const CONTRADICTS = ['archive | archive/SHA256SUMS: contradicts the manifests']

  const table: readonly (readonly [
    what: string,
    is: Source['is'],
    text: string | undefined,
    found: readonly string[],
  ])[] = [
    ['of a service may have one more month, which has just closed', 'service', `${sums}more`, []],
    ['of a service must have the digests of all closed months', 'service', sums.slice(0, -1), CONTRADICTS],
    ['of a service must have the digests of the manifests', 'service', other, CONTRADICTS],
    ['of a service must be there', 'service', undefined, CONTRADICTS],
    ['of a folder must have the digests of the manifests', 'folder', other, CONTRADICTS],
    ['of a folder may be missing', 'folder', undefined, []],
  ]
  for (const [what, is, text, found] of table) {
    test(what, async () => assert.deepEqual(await findings(is, changed(text)), found))
  }

  test('of a folder is not compared while the folder lacks a manifest', async () => {
    const lacking: Change = (path, body) => (/^archive\/[\d-]+\.json$/.test(path) ? undefined : body)
    assert.deepEqual(await findings('folder', lacking), [])
  })
})
