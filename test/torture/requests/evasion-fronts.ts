import { NO_PARQUET } from '../../../src/serve/archive/parquet-reply.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { openMainLines } from '../../../src/command/log-lines/log-lines.ts'
import { type Front, openFront } from '../../../src/command/service/front.ts'
import { allocateFront } from '../../../src/command/service/front-memory.ts'
import { openAppender } from '../../../src/log/append.ts'
import { createStore, openForWriting, storePath } from '../../../src/log/store/store.ts'
import { DAY_MS, msOf } from '../../../src/protocol/moment.ts'
import { openCallerSlots } from '../../../src/serve/allowance/caller-slots.ts'
import { manualContext } from '../../stage/manual-node.ts'
import { API_STORY, LAUNCH, storyDraft } from '../../story/api-story.ts'
import { testSigner } from '../../story/signing.ts'
import { TRUSTED_PROXIES } from './evasion-callers.ts'
import { openHeadCell } from '../../../src/log/head-cell.ts'

/** The public halves of two threads of one node, with a clock that stands still until it is moved. */
export type EvasionFronts = AsyncDisposable &
  Readonly<{
    /** Ports: of IPv4 alone, and of both versions. */
    ports: Readonly<{ ipv4: number; both: number }>
    /** Moves the clock of the allowances and that of answers. */
    setClock(ms: number): void
    /** Streams that are open now. */
    streams(): number
    /** All connections, with those of proxies, which no limit counts. */
    connections(): Promise<number>
  }>

/** Faults that the campaign must find. */
export type FrontFaults = Readonly<{ trustProxy?: string; rateLimit?: number; isShared?: boolean }>

const CONNECTIONS_OF_NODE = 2_000

function writeLog(data: string): void {
  createStore(storePath(data), { origin: 'daybook.test/evasion', chain: 'opaque', simulated: true })
  const db = openForWriting(storePath(data))
  const appender = openAppender(db, testSigner(db))
  appender.begin()
  for (const event of API_STORY) appender.append(storyDraft(event), null, LAUNCH)
  // In another month, so that the first one has a file that does not change.
  const next = storyDraft({ type: 'trade', kind: 'buy', kots: '1' })
  appender.append(next, null, msOf(LAUNCH + 40 * DAY_MS))
  appender.write()
  appender.commit()
  db.close()
}

/** Opens the publish APIs on a new log. */
export async function openEvasionFronts(faults: FrontFaults = {}): Promise<EvasionFronts> {
  const { trustProxy = TRUSTED_PROXIES, rateLimit = 60, isShared = true } = faults
  const data = mkdtempSync(join(tmpdir(), 'daybook-evasion-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(data, { recursive: true }))
  writeLog(data)
  let clockMs = 0
  const context = { ...manualContext(() => msOf(LAUNCH + 41 * DAY_MS + clockMs)), monotonicMs: () => clockMs }
  const lines = openMainLines(context)
  const limits = { rateLimit, streamsMax: 1_000, connectionsMax: CONNECTIONS_OF_NODE }
  const memory = allocateFront(openHeadCell().buffer, limits, 'a secret of this campaign')
  const apart = isShared ? memory : allocateFront(memory.head, limits, 'a secret of this campaign')
  const registries = [new Registry(), new Registry()] as const
  const open = async (host: string, own: typeof memory, registry: Registry): Promise<Front> => {
    const front = await openFront(
      {
        data,
        host,
        port: 0,
        reusePort: false,
        trustProxy,
        asksChain: false,
        following: false,
        mirrorOf: null,
        streamsMax: 1_000,
        drainMs: 0,
        // The clock leaps, and no stream ends for that.
        streamLimits: { lifetimeMs: 1e12, stallMs: 1e12 },
        connectionsMax: CONNECTIONS_OF_NODE,
      },
      own,
      { context, lines, registry, parquet: NO_PARQUET },
    )
    return stack.use(front)
  }
  const [ipv4, both] = [
    await open('127.0.0.1', memory, registries[0]),
    await open('::', apart, registries[1]),
  ]
  const streams = openCallerSlots(memory.slots)
  const owned = stack.move()
  return {
    ports: { ipv4: ipv4.port, both: both.port },
    setClock: (ms) => void (clockMs = ms),
    streams: streams.open,
    async connections() {
      const gauges = registries.map((registry) => registry.getSingleMetric('daybook_http_connections'))
      const values = await Promise.all(gauges.map(async (one) => (await one?.get())?.values[0]?.value ?? 0))
      return values.reduce((sum, value) => sum + value, 0)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
