import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ApiStage } from '../../../test/api-stage.ts'
import { openApiStage } from '../../../test/api-stage.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
  stage.trade(230)
})
after(() => stage[Symbol.asyncDispose]())

const seqsOf = (page: string): readonly number[] =>
  [...page.matchAll(/<th scope="row"><a class="seq" href="\/events\/(\d+)"/g)].map(([, seq]) => Number(seq))

const hrefOf = (page: string, rel: 'next' | 'prev'): string | undefined =>
  new RegExp(`<a rel="${rel}" href="([^"]+)"`).exec(page)?.[1]?.replaceAll('&amp;', '&')

const pageAt = async (path: string): Promise<string> => (await stage.get(path)).text()

/** Every seq shown from a page on, by its own links. */
async function walk(path: string, rel: 'next' | 'prev'): Promise<readonly number[]> {
  const seen: number[] = []
  for (let at: string | undefined = path; at !== undefined;) {
    const page = await pageAt(at)
    seen.push(...seqsOf(page))
    at = hrefOf(page, rel)
  }
  return seen
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1)

suite('the pages of events', () => {
  test('lead from the first event to the last, each shown once', async () => {
    assert.deepEqual(await walk('/events', 'next'), upTo(243))
  })

  test('lead from the newest event to the first, each shown once', async () => {
    assert.deepEqual(await walk('/events?order=desc', 'next'), upTo(243).toReversed())
  })

  test('lead from the newest to the first under a filter', async () => {
    assert.deepEqual(await walk('/events?type=play,payout&order=desc&limit=1', 'next'), [10, 5, 4])
  })

  test('turn round where they are, and leave nothing out', async () => {
    const page = await pageAt('/events?after=100&limit=10')
    const older = await pageAt(hrefOf(page, 'prev') ?? assert.fail())
    assert.equal(seqsOf(older)[0], 100)
    const newer = await pageAt(hrefOf(older, 'prev') ?? assert.fail())
    assert.equal(seqsOf(newer)[0], 101)
  })

  test('say between which events there is none', async () => {
    const page = (await pageAt('/events?type=expiry')).replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
    assert.match(page, /No expiry between #0 and #243 \(243 events scanned\)\./)
  })

  test('leave CSV to the API', async () => {
    const response = await fetch(`http://127.0.0.1:${stage.port}/events?format=csv&limit=2`, {
      redirect: 'manual',
    })
    assert.equal(response.status, 303)
    assert.equal(response.headers.get('location'), '/api/v1/events?limit=2&format=csv')
  })

  test('go on live with the same filter', async () => {
    assert.match(await pageAt('/events?type=payout'), /href="\/stream\?type=payout">Go on live/)
    assert.deepEqual(seqsOf(await pageAt('/stream?type=payout')), [10])
    assert.equal(seqsOf(await pageAt('/stream'))[0], 243)
  })
})
