import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { DAY_MS, HOUR_MS } from '../../src/protocol/moment.ts'
import type { EventWire } from '../../src/protocol/event.ts'
import { type Random, randomOf } from '../../sim/random.ts'
import { filterOf, type LogModel, matching, openLogModel, queryOf } from '../story/log-model.ts'
import { fromCsv, fromJson } from './model-pages.ts'
import { type Follower, openFollower } from './model-follower.ts'
import { type ModelService, openModelService } from '../stage/model-service.ts'
import { openCampaign } from '../torture/campaign.ts'

const CAMPAIGN = openCampaign('log-model')
/** Runs of the model. */
const RUNS = CAMPAIGN.size
const STEPS = 70
const LAUNCH_MS = Date.UTC(2026, 4, 1, 12)
const LAUNCHED = JSON.stringify({ atMs: LAUNCH_MS })
const FOLLOWERS_MAX = 7

type Stage = Readonly<{
  random: Random
  model: LogModel
  service: ModelService
  followers: Follower[]
  /** The bytes of closed months when they were first read. */
  closed: Map<string, string>
}>

async function publish({ random, model, service }: Stage): Promise<void> {
  service.setNow(service.nowMs() + random.pick([0, 1, 999, random.below(HOUR_MS), random.below(DAY_MS)]))
  // A clock that steps back has no effect: the log continues from its last moment.
  const now = service.nowMs() - (random.chance(0.1) ? HOUR_MS : 0)
  const present = service.nowMs()
  service.setNow(now)
  const drafts = model.drafts(random, random.pick([1, 2, random.between(1, 40), random.between(1, 300)]))
  if (random.chance(0.15)) {
    const refused = await service.publish(
      [...drafts, { ref: 'odd', type: 'contest', kind: 'paid', contestId: 9_999 }],
      false,
    )
    assert.equal(refused.status, 409, await refused.text())
  }
  const first = model.head() + 1
  const answer = await service.publish(drafts, random.chance(0.5))
  assert.equal(answer.status, 200, await answer.clone().text())
  const receipts = drafts.map(({ ref }, index) => ({ ref, status: 'published', seq: first + index }))
  assert.deepEqual(await answer.json(), { drafts: receipts })
  model.publish(drafts, now)
  if (random.chance(0.2)) {
    const again = await service.publish(drafts, random.chance(0.5))
    assert.deepEqual(await again.json(), {
      drafts: receipts.map((receipt) => ({ ...receipt, status: 'duplicate' })),
    })
  }
  service.setNow(present)
}

/** Several concurrent publishers, some of them refused, and a reader. Each is published whole or not, in some order. */
async function publishTogether({ random, model, service }: Stage): Promise<void> {
  service.setNow(service.nowMs() + random.below(HOUR_MS))
  const requests = Array.from({ length: random.between(2, 6) }, (_, index) => {
    const drafts = model.drafts(random, random.between(1, 30), 'of-no-contest')
    const odd = { ref: `odd-${index}`, type: 'contest', kind: 'paid', contestId: 9_999 }
    return random.chance(0.3) ? [...drafts, odd] : drafts
  })
  const after = random.between(0, model.head())
  const read = service
    .get(`/api/v1/events${queryOf({ after, limit: 10_000 })}`)
    .then((answer) => answer.json())
  const sent = requests.map(async (drafts) => {
    const answer = await service.publish(drafts, random.chance(0.5))
    const isOdd = drafts.some(({ ref }) => ref.startsWith('odd-'))
    assert.equal(answer.status, isOdd ? 409 : 200, await answer.clone().text())
    const { drafts: receipts } = (await answer.json()) as { drafts?: { seq: number }[] }
    return { drafts, seqs: receipts?.map(({ seq }) => seq) ?? [] }
  })
  const published = (await Promise.all(sent)).filter(({ seqs }) => seqs.length > 0)
  for (const { drafts, seqs } of published.toSorted((a, b) => (a.seqs[0] ?? 0) - (b.seqs[0] ?? 0))) {
    const first = model.head() + 1
    assert.deepEqual(
      seqs,
      drafts.map((_, index) => first + index),
    )
    model.publish(drafts, service.nowMs())
  }
  const { events } = (await read) as { events: EventWire[] }
  const lines = events.map((event) => JSON.stringify(event))
  assert.deepEqual(lines, model.lines.slice(after, after + lines.length))
}

type Bounds = Readonly<{ after?: number; before?: number; from?: number; to?: number }>

/** Reads all pages of a random question, in any order and format. Expects each match once. */
async function page({ random, model, service }: Stage): Promise<void> {
  const filter = filterOf(random)
  const isDescending = random.chance(0.4)
  const moment = (): number => wireOf(model, random.between(1, model.head())).atMs + random.between(-1, 1)
  const [from, to] = [moment(), moment()].toSorted((a, b) => a - b)
  const bounds: Bounds = {
    ...(random.chance(0.4) ? { after: random.between(0, model.head()) } : {}),
    ...(isDescending && random.chance(0.6) ? { before: random.between(1, model.head() + 3) } : {}),
    // A moment after the last event may be in the future, which is refused.
    ...(random.chance(0.2) && from !== undefined && from !== to && from <= model.lastMs() ? { from } : {}),
    ...(random.chance(0.2) && to !== undefined && from !== to ? { to } : {}),
  }
  const isCsv = random.chance(0.3)
  const limit = random.pick([1, 7, 100, 1_000, 10_000])
  const order = isDescending ? 'desc' : 'asc'
  const { tx = null } = random.chance(0.3) ? wireOf(model, random.between(1, model.head())) : {}
  const expected = matching(model, filter)
    .filter((event) => isWithin(event, bounds))
    .filter((event) => tx === null || event.tx === tx)
  if (isDescending) expected.reverse()
  const seen: EventWire[] = []
  const format = isCsv ? { format: 'csv' } : {}
  let next: string | null =
    `/api/v1/events${queryOf({ ...filter, ...(tx === null ? {} : { tx }), ...bounds, order, limit, ...format })}`
  for (let pages = 0; next !== null && pages < 12; pages++) {
    const answer = await service.get(next)
    const body = await answer.text()
    assert.equal(answer.status, 200, `${next}: ${body}`)
    const found = isCsv ? fromCsv(body) : fromJson(body)
    const hasMore = isCsv ? answer.headers.get('daybook-has-more') === 'true' : JSON.parse(body).page.hasMore
    const left = expected.length - seen.length
    // Only `nonzero` may end a page before it is full.
    assert.ok(filter.nonzero === 1 ? found.length <= limit : found.length === Math.min(limit, left), next)
    seen.push(...found)
    const link = /<(.*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null
    if (!isCsv) assert.equal(JSON.parse(body).page.next, link)
    assert.equal(link !== null, hasMore)
    assert.equal(
      /immutable/.test(answer.headers.get('cache-control') ?? ''),
      isDescending ? isAnchored(next, model) : hasMore,
    )
    next = link
  }
  assert.deepEqual(seen, next === null ? expected : expected.slice(0, seen.length))
}

function isWithin(
  { seq, atMs }: EventWire,
  { after = 0, before = Infinity, from = 0, to = Infinity }: Bounds,
): boolean {
  return seq > after && seq < before && atMs >= from && atMs < to
}

/** Whether a descending page has a `before` that the log has reached. */
function isAnchored(path: string, model: LogModel): boolean {
  const before = new URL(path, 'http://daybook.test').searchParams.get('before')
  return before !== null && Number(before) <= model.head() + 1
}

function wireOf(model: LogModel, seq: number): EventWire {
  return JSON.parse(model.lines[seq - 1] ?? LAUNCHED)
}

async function single({ random, model, service }: Stage): Promise<void> {
  const seq = random.between(1, model.head() + 2)
  const line = model.lines[seq - 1]
  const event = await service.get(`/api/v1/events/${seq}`)
  const details = await service.get(`/api/v1/events/${seq}/details`)
  if (line === undefined) {
    assert.deepEqual([event.status, details.status], [404, 404])
    assert.equal(event.headers.get('cache-control'), 'no-store')
    return
  }
  assert.equal(await event.text(), line)
  assert.equal(await details.text(), model.details[seq - 1] ?? `{"seq":${seq},"details":null}`)
}

async function follow({ random, model, service, followers }: Stage): Promise<void> {
  if (followers.length < FOLLOWERS_MAX) followers.push(await openFollower(service.port(), model, random))
}

async function cut({ random, service, followers }: Stage): Promise<void> {
  const follower = followers[random.below(followers.length)]
  if (follower?.isCut() === true) await follower.resume(service.port())
  else follower?.cut()
}

async function check({ followers }: Stage): Promise<void> {
  for (const follower of followers) await follower.check()
}

async function restart({ random, service, followers }: Stage): Promise<void> {
  // The stop cuts the followers that were not cut before.
  for (const follower of followers) if (random.chance(0.3)) follower.cut()
  await service.restart()
  for (const follower of followers) {
    follower.cut()
    if (random.chance(0.7)) await follower.resume(service.port())
  }
}

async function closeMonth(stage: Stage): Promise<void> {
  stage.service.setNow(stage.service.nowMs() + stage.random.between(20, 70) * DAY_MS)
  await publish(stage)
}

/** Asserts that the files of all months joined are the log, and that closed months never change. */
async function archive({ model, service, closed }: Stage): Promise<void> {
  const { months } = (await (await service.get('/api/v1/archive')).json()) as {
    months: {
      month: string
      state: string
      url: string
      detailsUrl: string
      bytes: number | null
      sha256: string | null
    }[]
  }
  const [lines, details] = [[] as string[], [] as string[]]
  for (const { state, url, detailsUrl, bytes, sha256 } of months) {
    const file = Buffer.from(await (await service.get(url)).arrayBuffer())
    const digest = createHash('sha256').update(file).digest('hex')
    if (state === 'closed') {
      assert.deepEqual([file.length, digest], [bytes, sha256])
      assert.equal(closed.get(url) ?? digest, digest, `${url} is what it was`)
      closed.set(url, digest)
    }
    lines.push(...linesOf(file))
    details.push(...linesOf(Buffer.from(await (await service.get(detailsUrl)).arrayBuffer())))
  }
  assert.deepEqual(lines, model.lines)
  assert.deepEqual(
    details,
    model.details.filter((line) => line !== null),
  )
  assert.equal(
    months.at(-1)?.month ?? '',
    model.head() === 0 ? '' : new Date(model.lastMs()).toISOString().slice(0, 7),
  )
}

function linesOf(file: Uint8Array): string[] {
  return gunzipSync(file).toString().split('\n').slice(0, -1)
}

const STEP_WEIGHTS = [
  [publish, 10],
  [publishTogether, 4],
  [page, 10],
  [single, 4],
  [follow, 5],
  [cut, 8],
  [check, 3],
  [restart, 1],
  [closeMonth, 2],
  [archive, 2],
] as const

const taken: Record<string, number> = {}

for (let run = 0; run < RUNS; run++) {
  const seed = `${CAMPAIGN.seed} ${run}`
  test(`the log is the same however it is read (seed ${seed})`, async () => {
    await using service = await openModelService(LAUNCH_MS)
    const stage = {
      random: randomOf(seed),
      model: openLogModel(),
      service,
      followers: [],
      closed: new Map(),
    } as Stage
    const done: string[] = []
    try {
      for (let step = 0; step < STEPS; step++) {
        const take = stage.random.weighted(STEP_WEIGHTS)
        done.push(take.name)
        taken[take.name] = (taken[take.name] ?? 0) + 1
        await take(stage)
      }
      for (const follower of stage.followers) {
        if (follower.isCut()) await follower.resume(service.port())
      }
      await check(stage)
      await archive(stage)
      for (const follower of stage.followers) follower.cut()
      assert.deepEqual(await service.differences(), [])
    } catch (cause) {
      for (const follower of stage.followers) follower.cut()
      throw new Error(`seed ${seed}, after ${done.join(' ')}`, { cause })
    }
  })
}

test('each kind of step was taken', (t) => {
  const floors = Object.fromEntries(STEP_WEIGHTS.map(([step]) => [step.name, 1]))
  CAMPAIGN.finish(t, { runs: RUNS, ...taken }, { ...floors, publish: RUNS * 5, page: RUNS * 5, cut: RUNS })
})
