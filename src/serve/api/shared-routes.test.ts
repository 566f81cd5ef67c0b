import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../test/story/api-story.ts'
import { DAY_MS, msOf } from '../../protocol/moment.ts'
import { openAnswerCache } from '../http/answer-cache.ts'
import { CODINGS, compress } from '../http/coding.ts'
import { openPresentEtag } from '../http/etag.ts'
import { parseQuery } from '../query/query.ts'
import type { RouteRequest } from '../http/route.ts'
import { openRouter } from '../http/router.ts'
import { apiRoutes } from './api-routes.ts'

suite('an answer is computed once, and compressed once in each coding, until the head moves', () => {
  for (const target of [
    '/api/v1/summary',
    '/api/v1/flows?bucket=hour',
    '/api/v1/events?after=3',
    '/api/v1/events?after=0&limit=20',
    '/api/v1/events?format=csv&limit=1000',
  ]) {
    test(target, async () => {
      await using stage = await openApiStage()
      stage.trade(50)
      const { reader } = stage
      const desk = { reader, etag: openPresentEtag(reader.identity.id, 'test'), cache: openAnswerCache() }
      const following = () => ({ state: 'leader', behind: 0 }) as const
      const node = { version: '0.0.1', licence: null, following, asksChain: false }
      const router = openRouter(apiRoutes(desk, node))
      const [path = '', rawQuery = ''] = target.split('?')
      const ask = async (): Promise<Uint8Array> => {
        const found = router(path)
        assert.ok(found !== undefined && found.route.streaming !== true)
        const query = parseQuery(rawQuery, found.route.parameters)
        assert.ok(query.ok)
        const parts = { method: 'GET', path, segments: found.segments, query: query.value, caller: 'a' }
        const rest = { now: msOf(LAUNCH + 2 * DAY_MS), header: () => undefined, holds: () => false }
        const reply = await found.route.handle({ ...parts, ...rest } as unknown as RouteRequest)
        assert.ok(reply.is === 'body' && typeof reply.body !== 'string')
        return reply.body
      }
      const [first, second] = [await ask(), await ask()]
      assert.equal(first, second)
      for (const coding of CODINGS) {
        const underWay = compress(first, coding)
        assert.equal(compress(second, coding), underWay)
        await underWay
        assert.equal(compress(await ask(), coding), underWay)
      }
      stage.trade(1)
      if (!target.includes('limit')) assert.notEqual(await ask(), first)
    })
  }
})
