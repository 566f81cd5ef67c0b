import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { auditOf, findingLines, RICH_LOG } from '../../test/stage/audit-stage.ts'
import { type Change, type PublicLog, publicLog } from '../../test/story/public-log.ts'
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

suite('the figures of a service', () => {
  const figures = (path: string): boolean => !/^(?:archive|log|events\?)/.test(path)
  const asOf = (size: number): PublicLog => publicLog(RICH_LOG.slice(0, size), log.key, log.now)

  test('are wrong when later events have changed them', async () => {
    for (const size of [0, 1, RICH_LOG.length / 2, RICH_LOG.length - 1]) {
      const old = asOf(Math.floor(size))
      const found = await auditOf(log, (path, body) => (figures(path) ? old.body(path) : body))
      assert.match(findingLines(found).join('\n'), /^summary \| summary: .* is not what the log says$/m)
    }
  })

  test('may be those of a cache, which keeps an answer that no later event changes', async () => {
    const kept = (body: Uint8Array | undefined): string =>
      Buffer.from(body ?? [])
        .toString()
        .replace(/^\{"asOf":\{.*?\},/, '')
    const old = asOf(RICH_LOG.length - 1)
    const cached: string[] = []
    const found = await auditOf(log, (path, body) => {
      const earlier = old.body(path)
      if (!figures(path) || path === 'summary' || kept(earlier) !== kept(body)) return body
      if (!Buffer.from(earlier ?? []).equals(Buffer.from(body ?? []))) cached.push(path)
      return earlier
    })
    assert.ok(cached.length > 3, cached.join(' '))
    assert.deepEqual(findingLines(found), [])
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
