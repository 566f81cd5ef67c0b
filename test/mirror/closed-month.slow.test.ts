import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  addToSum,
  deflateSegment,
  EMPTY_SUM,
  GZIP_HEADER,
  gzipTrailer,
} from '../../src/log/archive/gzip-member.ts'
import { hasBuildingMirror } from '../../src/mirror/book/building-mirror.ts'
import { type Changes, openChangingProxy } from './changing-proxy.ts'
import { assertMirrors, openMirror, openOrigin } from './mirroring-stage.ts'

const EVENTS = 1_500
/** A month in the middle of the history. */
const MIDDLE = 'archive/2026-04.json'
const MANIFEST = /^archive\/\d{4}-\d\d\.json$/

/** Answers of something else than the origin, such as a node that is behind or a proxy. */
const ABSENT: readonly (readonly [name: string, Required<Pick<Changes, 'answer'>>['answer']])[] = [
  [
    'a 404',
    (_, response) => {
      response.writeHead(404, { 'content-type': 'application/problem+json' })
      response.end('{"code":"month-not-found","status":404}')
      return true
    },
  ],
  [
    'a page in HTML',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>under construction</html>')
      return true
    },
  ],
]

suite('a closed month whose manifest cannot be had for a while', () => {
  let origin: Awaited<ReturnType<typeof openOrigin>>
  before(async () => {
    origin = await openOrigin(EVENTS)
  })
  after(() => origin[Symbol.asyncDispose]())

  for (const [name, answer] of ABSENT) {
    test(`ends a build that the next one goes on with, and contradicts nothing: ${name}`, async () => {
      await using proxy = await openChangingProxy(origin.url())
      await using mirror = openMirror(() => proxy.url, { archiveEventsMin: 200 })
      proxy.change({ answer: (path, response) => path === MIDDLE && answer(path, response) })
      await assert.rejects(mirror.build(), /2026-04\.json: the address answers, but not as a Daybook does/)
      assert.deepEqual(mirror.evidence(), {})
      assert.ok(hasBuildingMirror(mirror.data))
      proxy.change({})
      assert.deepEqual(await mirror.build(), { is: 'ready', events: EVENTS, resumed: true })
    })

    test(`lets a mirror that follows wait: ${name}`, async () => {
      await using ending = await openOrigin(40)
      await using proxy = await openChangingProxy(ending.url())
      await using mirror = openMirror(() => proxy.url)
      await mirror.follow()
      const head = mirror.head()
      let asked = 0
      proxy.change({
        answer(path, response) {
          if (!MANIFEST.test(path)) return false
          asked += 1
          return answer(path, response)
        },
      })
      ending.clock.set(ending.later(40))
      await ending.trade(1)
      const { fault, waits } = await mirror.until((state) => asked > 6 || state.contradicted !== null)
      assert.match(fault ?? '', /\d\.json: the address answers, but not as a Daybook does/)
      assert.equal(waits, 'unusable')
      proxy.change({})
      await mirror.reach(head + 1)
      assert.deepEqual([mirror.state().contradicted, mirror.evidence()], [null, {}])
      await mirror.stop()
      assertMirrors(mirror.data, ending.data)
    })
  }
})

const digestOf = (bytes: Uint8Array): object => ({
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

/** Month files of a dishonest archive, made from the true one. Their manifest agrees with them. */
const FORGED: readonly (readonly [name: string, file: (published: Buffer) => Buffer, reason: RegExp])[] = [
  ['no gzip file', () => Buffer.from('this is no month file'), /jsonl\.gz: is no gzip file of the archive/],
  [
    'other events',
    (published) => {
      const raw = Buffer.from(gunzipSync(published).toString().replace('"kots":"1', '"kots":"2'))
      return Buffer.concat([GZIP_HEADER, deflateSegment(raw), gzipTrailer(addToSum(EMPTY_SUM, raw))])
    },
    /2026-05 is not the month of its manifest/,
  ],
]

suite('a mirror that has followed a month', () => {
  for (const [name, forged, reason] of FORGED) {
    test(`stops with evidence, and serves on, when the month is published with ${name}`, async () => {
      await using origin = await openOrigin(40)
      await using proxy = await openChangingProxy(origin.url())
      await using mirror = openMirror(() => proxy.url)
      await mirror.follow()
      const head = mirror.head()
      const bytesOf = async (path: string): Promise<Buffer> =>
        Buffer.from(await (await fetch(`${origin.url()}/api/v1/${path}`)).arrayBuffer())
      async function answerForged(path: string, response: ServerResponse): Promise<void> {
        const file = forged(await bytesOf('archive/2026-05.jsonl.gz'))
        if (path.endsWith('.gz')) return void response.end(file)
        const manifest = JSON.parse((await bytesOf(path)).toString())
        response.end(JSON.stringify({ ...manifest, gzip: digestOf(file) }))
        return undefined
      }
      proxy.change({
        answer(path, response) {
          if (!/^archive\/2026-05\.json(?:l\.gz)?$/.test(path)) return false
          answerForged(path, response).catch(() => response.destroy())
          return true
        },
      })
      origin.clock.set(origin.later(40))
      await origin.trade(1)
      const { contradicted } = await mirror.until((state) => state.contradicted !== null)
      assert.match(contradicted?.reason ?? '', reason)
      assert.match(mirror.evidence()['reason.txt'] ?? '', reason)
      assert.equal(mirror.head(), head)
      await mirror.end()
    })
  }
})
