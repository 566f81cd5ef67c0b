import { openRequestIds } from '../../src/serve/http/problem-document.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { openAppender } from '../../src/log/append.ts'
import { type HeldTables, openHeldTables } from '../../src/log/held/held-tables.ts'
import { openReader } from '../../src/log/open-reader.ts'
import type { LogReader } from '../../src/log/store/reader.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { DAY_MS, floorTo, MINUTE_MS, type Ms, msOf } from '../../src/protocol/moment.ts'
import type { Problem } from '../../src/protocol/problem.ts'
import type { Chain } from '../../src/protocol/tx.ts'
import { parseDraft } from '../../src/publish/admission/grammar.ts'
import { openAnswerCache, openSharedAnswers } from '../../src/serve/request/answer-cache.ts'
import { openPictureDrawing } from '../../src/command/service/picture-drawing.ts'
import { openPictures } from '../../src/serve/request/pictures.ts'
import { openAnswerer } from '../../src/serve/request/answer-job.ts'
import { apiRoutes, type MirrorReport } from '../../src/serve/api/api-routes.ts'
import { siteCalendarRoute } from '../../src/serve/api/calendar.ts'
import { archiveRoutes } from '../../src/serve/archive/archive-routes.ts'
import { frictionlessRoute } from '../../src/serve/describe/frictionless.ts'
import { openPresentEtag } from '../../src/serve/http/etag.ts'
import type { AnswerReport, RequestPathParts } from '../../src/serve/request/request-path.ts'
import { rootRoutes } from '../../src/serve/api/root-routes.ts'
import { openMetrics } from '../../src/serve/metrics/metrics.ts'
import type { Route } from '../../src/serve/http/route.ts'
import { openRouter } from '../../src/serve/http/router.ts'
import { type ServerSettings, start } from '../../src/serve/server.ts'
import { allocateCallerSlots, openCallerSlots } from '../../src/serve/allowance/caller-slots.ts'
import { allocateExportPlaces, openExportPlaces } from '../../src/serve/allowance/export-places.ts'
import { type ExportLimits, openExports } from '../../src/serve/export/exports.ts'
import { openStreams } from '../../src/serve/stream/streams.ts'
import { openAssets, openScripts } from '../../src/web/assets/assets.ts'
import { openWeb } from '../../src/web/web-routes.ts'
import { DEFAULT_SITE, type Site } from '../../src/web/markup/site.ts'
import { fetchDescribed } from './described.ts'
import { openFollowing } from '../story/following-stage.ts'
import { API_STORY, LAUNCH, storyDraft, type StoryEvent } from '../story/api-story.ts'
import { testSigner } from '../story/signing.ts'
import { parquetIn } from '../parquet/parquet-in.ts'

const STREAMS_MAX = 1_000

/** Draws the pictures of all stages, since a start of its thread takes longer than a drawing. */
const drawing = openPictureDrawing()

/** A log with a story, and a server of its API and pages on a free local port. */
export type ApiStage = AsyncDisposable &
  Readonly<{
    port: number
    /** Its data directory. */
    data: string
    reader: LogReader
    reported: unknown[]
    failures: AnswerReport[]
    /** SVG of each link preview that was drawn. */
    drawn: string[]
    metrics: Registry
    /** Appends `count` trades, a minute apart, in one commit. */
    trade(count: number): void
    /** Appends events, a minute apart, in one commit. */
    append(events: readonly StoryEvent[]): void
    /** Appends valid drafts at their own moments, in one commit. Each is a line, as in a file of `daybook import`. */
    import(lines: readonly string[]): void
    /** Changes the tables of held drafts in one commit. */
    held(change: (tables: HeldTables) => void): void
    /** Moves the wall clock of the service. */
    setNow(now: Ms): void
    setUnready(problem: Problem | undefined): void
    following: ReturnType<typeof openFollowing>
    get(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Response>
  }>

type ApiStageSettings = Readonly<{
  counters?: RequestPathParts['counters']
  callerOf?: RequestPathParts['callerOf']
  routes?: readonly Route[]
  server?: Partial<ServerSettings>
  site?: Partial<Site>
  /** Time between events; a minute by default. */
  apartMs?: number
  /** Events of the log; `API_STORY` by default. */
  story?: readonly StoryEvent[]
  /** Chain of the log; opaque by default. */
  chain?: Chain
  /** Wraps the reader, for example so that a read fails. */
  reader?: (reader: LogReader) => LogReader
  /** Limits of whole CSV files. */
  exports?: Partial<ExportLimits>
  /** Whether the node says that it asks the blockchain. */
  asksChain?: boolean
  streams?: boolean
  streamLimits?: Parameters<typeof openStreams>[0]['limits']
  following?: Parameters<typeof openFollowing>[1]
  /** Report of the node as a mirror. */
  mirror?: () => MirrorReport
  /** Report of the node about the writers of its log. */
}>

/** Made once for all stages of a process. */
const ASSETS = openAssets(openScripts())

export async function openApiStage(settings: ApiStageSettings = {}): Promise<ApiStage> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-api-'))
  const { chain = 'opaque' } = settings
  createStore(storePath(directory), { origin: 'daybook.test/api', chain, simulated: true })
  const db = openForWriting(storePath(directory))
  const appender = openAppender(db, testSigner(db))
  const tables = openHeldTables(db)
  let at = LAUNCH
  const append = (drafts: readonly Draft[]): void => {
    appender.begin()
    for (const draft of drafts) {
      appender.append(draft, null, draft.atMs ?? at)
      if (draft.atMs === null) at = msOf(at + (settings.apartMs ?? MINUTE_MS))
    }
    appender.write()
    appender.commit()
  }
  append((settings.story ?? API_STORY).map(storyDraft))

  const opened = openReader(directory, null)
  const reader = settings.reader?.(opened) ?? opened
  const reported: unknown[] = []
  const failures: ApiStage['failures'] = []
  const registry = new Registry()
  let now = msOf(LAUNCH + 2 * DAY_MS + 30_000)
  let unready: Problem | undefined
  const etag = openPresentEtag(reader.identity.id, 'test')
  // Its URL is set below, when the port is known.
  const mirror = settings.mirror
  const mirrored = mirror === undefined ? {} : { mirror: () => mirror().mirror }
  const site = { ...DEFAULT_SITE, ...mirrored, ...settings.site }
  const node = {
    version: '0.0.1',
    licence: site.licence,
    following: () => ({ state: 'leader', behind: 0 }) as const,
    asksChain: settings.asksChain ?? false,
    ...(mirror === undefined ? {} : { mirror }),
  }
  const api = [...apiRoutes({ reader, etag }, node), ...archiveRoutes(reader, etag, parquetIn(directory))]
  const web = openWeb(api, {
    identity: reader.identity,
    site,
    assets: ASSETS,
    inOneSnapshot: reader.inOneSnapshot,
  })
  const following = openFollowing(reader, settings.following)
  const streams = openStreams({
    reader,
    waits: following?.waits ?? null,
    slots: openCallerSlots(allocateCallerSlots({ perCaller: STREAMS_MAX, perNode: STREAMS_MAX }, 'test')),
    now: () => now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    report: (error) => reported.push(error),
    ended: () => undefined,
    limits: { drainMs: 0, ...settings.streamLimits },
  })
  const exports = openExports({
    reader,
    etag,
    places: openExportPlaces(allocateExportPlaces({ perCaller: 2, perNode: 64 }, 'test')),
    monotonicMs: () => performance.now(),
    report: (error) => reported.push(error),
    onStalled: () => undefined,
    limits: settings.exports ?? {},
  })
  const routes = [
    ...exports.over([
      ...api,
      ...rootRoutes(),
      frictionlessRoute(reader, site),
      siteCalendarRoute(reader, site),
      ...web.routes,
    ]),
    ...(settings.streams === true ? streams.routes : []),
    ...(settings.routes ?? []),
  ]
  const answerer = openAnswerer(routes, web.refuse)
  const cache = openAnswerCache(() => `${reader.version()} ${floorTo(now, MINUTE_MS)}`)
  const shared = openSharedAnswers({
    cache,
    places: 2,
    make: async (job) => ({ value: await answerer(job), tookMs: 1 }),
    monotonicMs: () => performance.now(),
  })
  const drawn: string[] = []
  const pictures = openPictures({
    draw(svg) {
      drawn.push(Buffer.from(svg).toString('utf8'))
      return drawing.draw(svg)
    },
    monotonicMs: () => performance.now(),
  })
  const server = await start(
    {
      host: '127.0.0.1',
      port: 0,
      reusePort: false,
      keepAliveMs: 5_000,
      connectionsMax: 1_000,
      drainMs: 500,
      connections: null,
      ...settings.server,
    },
    {
      identity: reader.identity,
      mirrorOf: mirror?.().mirror.of ?? null,
      licence: site.licence,
      requestIds: openRequestIds('t'),
      router: openRouter(routes),
      cache,
      // In this thread, because tests move the clock and the head between requests.
      answer: async (caller, job, gone) =>
        pictures.finish(caller, job, await shared.answer(caller, job, gone), gone),
      callerOf: settings.callerOf ?? (({ socket }) => socket.remoteAddress ?? 'unknown'),
      counters: settings.counters ?? null,
      unready: () => unready,
      following,
      now: () => now,
      monotonicMs: () => performance.now(),
      problemBase: '/api/problems',
      metrics: openMetrics(registry),
      report: {
        all: false,
        answered(answer) {
          if (answer.status >= 500) failures.push(answer)
          if (answer.error !== null) reported.push(answer.error)
        },
        cut: () => undefined,
      },
    },
  )
  site.url = settings.site?.url ?? `http://127.0.0.1:${server.port}`
  return {
    port: server.port,
    data: directory,
    reader,
    reported,
    failures,
    drawn,
    metrics: registry,
    trade: (count) =>
      append(Array.from({ length: count }, () => storyDraft({ type: 'trade', kind: 'buy', kots: '1' }))),
    append: (events) => append(events.map(storyDraft)),
    import: (lines) => append(lines.map((line) => importedDraft(line, chain))),
    held(change) {
      db.exec('BEGIN')
      change(tables)
      db.exec('COMMIT')
    },
    setNow: (ms) => {
      now = ms
    },
    following,
    setUnready: (problem) => {
      unready = problem
    },
    get: (path, headers = {}, method = 'GET') =>
      fetchDescribed(`http://127.0.0.1:${server.port}${path}`, { method, headers }),
    async [Symbol.asyncDispose]() {
      following?.waits.end()
      await streams[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      exports[Symbol.dispose]()
      reader.close()
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}

function importedDraft(line: string, chain: Chain): Draft {
  const parsed = parseDraft(JSON.parse(line), { chain, mode: 'import' })
  assert.ok(parsed.ok, line)
  return parsed.draft
}
