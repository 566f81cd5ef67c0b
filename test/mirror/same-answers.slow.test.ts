import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { ServedMirror } from '../../src/mirror/command/served-mirror.ts'
import type { Service } from '../../src/command/service/service.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Status } from '../../src/protocol/endpoints/description-endpoints.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { askedPaths, KEPT_LOG, unpackKept } from '../books/kept-store.ts'
import { fetchDescribed } from '../stage/described.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { startMirrorNode } from './mirror-stage.ts'

/** The moment of all questions: that of the kept store's recorded answers. */
const NOW = Date.UTC(2026, 3, 20, 12, 0, 30, 500)
/** Public address of both services, so that absolute addresses on pages are equal. */
const SITE = 'https://data.example.org'

/** Paths outside the API: pages and their files. `/status` is not among them, because it says that the node is a mirror. */
const PAGES = [
  '/',
  '/summary',
  '/contests',
  '/contests?status=paid',
  '/contests/3/ledger',
  '/contests/3/ledger.csv',
  '/schedule',
  '/schedule.ics',
  '/payouts',
  '/payouts.ics',
  '/flows',
  '/flows.svg',
  '/flows.csv',
  '/funds',
  '/loyalty/runs',
  '/patterns',
  '/events',
  '/events?order=desc&limit=5',
  '/events/7',
  '/events/7.json',
  '/events/999999',
  '/archive',
  '/stream',
  '/find?q=1',
  '/verify',
  '/errors',
  '/about',
  '/nothing',
  '/feed.atom',
  '/flows.svg',
  '/robots.txt',
  '/sitemap.xml',
  '/llms.txt',
  '/datapackage.json',
  '/api/problems/behind',
  '/api/v1/openapi.json',
  '/api/v1/asyncapi.json',
  '/api/v1/nothing',
  '/api/v1/events/999999',
  '/api/v1/events?after=999999',
  '/api/v1/summary?at=2099-01-01',
]
/** Headers that differ: time, the request, and the mirror's own. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'daybook-mirror',
  'daybook-request',
  'date',
  'connection',
  'keep-alive',
  'etag',
])
const MIRROR_LINE = /<p class="strip" role="note">\n<span>This is a mirror of [^]*?<\/p>\n/

type Answered = Readonly<{
  status: number
  headers: readonly (readonly [string, string])[]
  etag: string | null
  body: Buffer
}>

async function answerOf(port: number, path: string): Promise<Answered> {
  const framed = path.endsWith('#ndjson')
  const answer = await fetchDescribed(`http://127.0.0.1:${port}${path.replace('#ndjson', '')}`, {
    headers: framed ? { accept: 'application/x-ndjson' } : {},
    redirect: 'manual',
  })
  const headers = [...answer.headers].filter(([name]) => !OWN_HEADERS.has(name))
  const etag = answer.headers.get('etag')
  return { status: answer.status, headers, etag, body: Buffer.from(await answer.arrayBuffer()) }
}

/** The body without the line about the mirror, and of an open month its lines. */
function contentOf({ headers, body }: Answered): string {
  const header = (name: string): string => new Map(headers).get(name) ?? ''
  if (header('daybook-archive-state') === 'open' && header('content-type') === 'application/gzip')
    return gunzipSync(body).toString()
  if (header('content-type').startsWith('text/html')) return body.toString().replace(MIRROR_LINE, '')
  return body.toString('latin1')
}

suite('a mirror answers as its origin does', () => {
  const kept = unpackKept(SCHEMA_VERSION)
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-'))
  const clock = openSharedClock()
  clock.set(msOf(NOW))
  let origin: Service
  let mirror: ServedMirror
  before(async () => {
    const settings = { publicUrl: SITE }
    origin = await startLocalNode(kept.data, KEPT_LOG, kept.keys, clock, { settings })
    const url = `http://127.0.0.1:${origin.port}`
    mirror = await startMirrorNode(folder, url, clock.now, { publicUrl: SITE, mirrorOf: SITE })
    // Its first proof comes a moment after the start.
    while ((await statusOf(mirror.port)).mirror?.state !== 'following') await sleep(20)
  })
  after(async () => {
    await mirror[Symbol.asyncDispose]()
    await origin[Symbol.asyncDispose]()
    kept[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })

  const statusOf = async (port: number): Promise<Status> =>
    (await (await fetch(`http://127.0.0.1:${port}/api/v1/status`)).json()) as Status

  async function compare(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const [one, other] = await Promise.all([answerOf(origin.port, path), answerOf(mirror.port, path)])
      assert.equal(other.status, one.status, path)
      assert.equal(contentOf(other), contentOf(one), path)
      if (one.body.equals(other.body)) assert.equal(other.etag, one.etag, `ETag of ${path}`)
      const length = (answered: Answered): unknown =>
        answered.headers.filter(([name]) => !LENGTHS.has(name) || one.body.equals(other.body))
      assert.deepEqual(length(other), length(one), `headers of ${path}`)
    }
  }

  test('at every endpoint, and with every file of a closed month', async () => {
    const paths = askedPaths().filter((path) => !/\/(?:status|stream)/.test(path))
    assert.ok(paths.length > 60)
    await compare(paths)
  })

  test('on every page but for the line that names the origin', async () => {
    await compare(PAGES)
  })

  test('on the stream, event by event', async () => {
    const [one, other] = await Promise.all(
      [origin.port, mirror.port].map(async (port) => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/v1/stream?after=0&details=1`)
        let text = ''
        for await (const bytes of answer.body ?? []) {
          text += Buffer.from(bytes).toString()
          if (text.includes('"live":true')) break
        }
        return text.replace(/^retry: \d+\n\n/, '')
      }),
    )
    assert.equal(other, one)
  })

  test('in /status, but for what a mirror says about itself', async () => {
    const [one, other] = await Promise.all([statusOf(origin.port), statusOf(mirror.port)])
    const { following, mirror: told, ...rest } = other
    assert.deepEqual({ ...rest, following: one.following, mirror: null }, one)
    assert.deepEqual(following, { state: 'follower', behind: 0 })
    assert.deepEqual([told?.of, told?.state, told?.originSeq], [SITE, 'following', one.head.seq])
  })

  test('also to a reader who asks for an event in the moment of its publication', async () => {
    const { seq: head } = (await statusOf(origin.port)).head
    for (let seq = head + 1; seq <= head + 2; seq += 1) {
      const published = await postDrafts(origin, [
        { ref: `hop-${seq}`, type: 'trade', kind: 'buy', kots: '1' },
      ])
      assert.equal(published.status, 200, await published.text())
      const [one, other] = await Promise.all(
        [origin.port, mirror.port].map((port) => answerOf(port, `/api/v1/events/${seq}`)),
      )
      assert.deepEqual(other, one)
    }
    await compare([
      `/api/v1/events?after=${head}`,
      '/api/v1/summary',
      '/api/v1/log/checkpoint',
      '/api/v1/archive',
    ])
  })

  test('and tells a reader that a cursor is ahead only when it is ahead of the origin too', async () => {
    const { seq } = (await statusOf(origin.port)).head
    await compare([`/api/v1/events?after=${seq + 1}`])
    const ahead = await fetch(`http://127.0.0.1:${mirror.port}/api/v1/stream?after=${seq + 9}`)
    const { code, head } = (await ahead.json()) as { code: string; head: number }
    assert.deepEqual([ahead.status, code, head], [400, 'cursor-ahead', seq])
  })
})

/** Headers about the length of a body. */
const LENGTHS: ReadonlySet<string> = new Set(['content-length'])
