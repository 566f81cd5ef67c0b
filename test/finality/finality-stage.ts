import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMainLines } from '../../src/command/log-lines/log-lines.ts'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import { openPretendChain, type PretendChain } from '../../sim/chain/pretend-chain.ts'
import { openRpcServer, type RpcServer } from '../../sim/chain/rpc-server.ts'
import type { TokenAccount } from '../../src/finality/chain/tx-verdict.ts'
import type { Service } from '../../src/command/service/service.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { judgeOf } from '../../src/finality/command/finality-options.ts'
import type { GatePace } from '../../src/finality/gate/finality-settings.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { LOCAL_TOKEN, postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { TEST_KEY } from '../story/signing.ts'
import { linesOf } from '../stage/publish-stage.ts'
import { storePath } from '../../src/log/store/store.ts'

const START = Date.UTC(2026, 0, 1)
/** Real milliseconds between questions. The clocks of chain and writer stand still unless a test moves them. */
export const FAST_PACE: GatePace = {
  firstMs: 24,
  longestMs: 100,
  timeoutMs: 400,
  identifyMs: 20,
  againMs: 20,
  roundMs: 40,
}
/** Longest wait for a condition. */
const WAIT_MS_MAX = 60_000
/** Path of the pretend servers, as providers have it. It must never be shown. */
export const RPC_KEY = 'a-secret-key-of-a-provider'

/** Longer than either chain needs until a transaction is final. */
export const FINAL_MS = 1_200_000

/** A draft that any log accepts at any time, with a transaction. */
export function deposit(ref: string, tx: string, kots = '5'): Readonly<Record<string, string>> {
  return { ref, type: 'treasury', kind: 'deposit', kots, tx }
}

const AT = { opensAt: '2026-01-01T00:00:00.000Z', closesAt: '2026-01-02T00:00:00.000Z' }

/** Drafts that leave contest 1 paying, with prizes of 100 to be paid. */
export const PAYING: readonly object[] = [
  { ref: 'deposit', type: 'treasury', kind: 'deposit', kots: '100' },
  { ref: 'scheduled', type: 'contest', kind: 'scheduled', contestId: 1, details: AT },
  { ref: 'pool', type: 'pool', kind: 'top_up', contestId: 1, kots: '100' },
  { ref: 'opened', type: 'contest', kind: 'opened', contestId: 1 },
  { ref: 'closed', type: 'contest', kind: 'closed', contestId: 1 },
  { ref: 'prize', type: 'prize', kind: 'winner', contestId: 1, kots: '100' },
]

type Receipt = Readonly<{ ref: string; status: string; seq?: number }>
type StageAnswer = Readonly<{ status: number; text: string; drafts: readonly Receipt[] }>

/** A service that asks a pretend chain, in this process. */
export type FinalityStage = AsyncDisposable &
  Readonly<{
    chain: PretendChain
    rpcs: readonly RpcServer[]
    data: string
    /** Base URL of the private listener, whose token is `LOCAL_TOKEN`. */
    publishUrl(): string
    /** Moves the clock of the chain, and that of the writer. */
    advance(ms: number): void
    publish(...drafts: readonly object[]): Promise<StageAnswer>
    /** Sends the operator's word on held drafts. Returns the body of the answer. */
    decide(word: 'release' | 'vouch' | 'drop', refs: readonly string[], reason: string): Promise<string>
    /** The operator's list of held drafts, as text. */
    held(): Promise<string>
    /** Lines of the log. */
    lines(): readonly string[]
    /** JSON of a path of the public listener. */
    get(path: string): Promise<unknown>
    metrics(): Promise<string>
    /** Value of a metric, without labels or with them as written. */
    metric(name: string): Promise<number>
    /** Everything that the service has logged. */
    logged(): string
    /** Waits until the condition holds. Throws with the log when it does not in time. */
    until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
    /** Waits until every server has answered two more requests. */
    asked(): Promise<void>
    stop(): Promise<void>
    /** Starts the service again on the same directory. */
    start(): Promise<void>
  }>

type StageSettings = Readonly<{
  kind?: ChainKind
  /** Number of RPC servers. */
  rpcs?: number
  amounts?: TokenAccount | null
  tokens?: Readonly<Record<string, number>>
  requestsPerMinute?: number
  /** An hour by default. */
  overdueMs?: number
  pace?: GatePace
  /** Called before the first start. */
  prepare?(servers: readonly RpcServer[]): void
}>

export async function openFinalityStage(settings: StageSettings = {}): Promise<FinalityStage> {
  const { kind = 'solana', rpcs = 1, amounts = null, tokens = {}, requestsPerMinute = 100_000 } = settings
  const data = mkdtempSync(join(tmpdir(), 'daybook-finality-'))
  const clock = openSharedClock()
  let now = START
  clock.set(msOf(now))
  const chain = openPretendChain({ kind, seed: 'finality', now: () => now, tokens })
  const servers: RpcServer[] = []
  for (let index = 0; index < rpcs; index += 1) {
    servers.push(await openRpcServer({ chain, path: `/${RPC_KEY}/${index}` }))
  }
  settings.prepare?.(servers)
  let logged = ''
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString()
      done()
    },
  })
  const lines = openMainLines({
    now: clock.now,
    monotonicMs: () => performance.now(),
    stderr,
    interactive: false,
  })
  const start = (): Promise<Service> =>
    startLocalNode(
      data,
      { origin: 'daybook.test/finality', chain: kind, simulated: false },
      [TEST_KEY],
      clock,
      {
        lines,
        settings: {
          judge: judgeOf({
            chain: kind,
            urls: servers.map(({ url }) => url),
            requestsPerMinute,
            amounts,
            overdueMs: settings.overdueMs ?? 3_600_000,
            pace: settings.pace ?? FAST_PACE,
          }),
        },
      },
    )
  let service: Service | null
  const clean = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()))
    rmSync(data, { recursive: true })
  }
  try {
    service = await start()
  } catch (error) {
    await clean()
    throw error
  }
  const running = (): Service => {
    if (service === null) throw new Error('the service is stopped')
    return service
  }
  const stop = async (): Promise<void> => {
    await service?.[Symbol.asyncDispose]()
    service = null
  }
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${running().publishPort}/metrics`)).text()
  const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    const end = performance.now() + WAIT_MS_MAX
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`not in time: ${what}\n${logged}`)
      await sleep(5)
    }
  }
  return {
    chain,
    publishUrl: () => `http://127.0.0.1:${running().publishPort}`,
    rpcs: servers,
    data,
    advance(ms) {
      now += ms
      clock.set(msOf(now))
    },
    async publish(...drafts) {
      const response = await postDrafts(running(), drafts)
      const text = await response.text()
      const body = JSON.parse(text) as { drafts?: readonly Receipt[] }
      return { status: response.status, text, drafts: body.drafts ?? [] }
    },
    async decide(word, refs, reason) {
      const response = await fetch(`http://127.0.0.1:${running().publishPort}/held/${word}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${LOCAL_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ refs, reason }),
      })
      return response.text()
    },
    async held() {
      const headers = { authorization: `Bearer ${LOCAL_TOKEN}` }
      return (await fetch(`http://127.0.0.1:${running().publishPort}/held`, { headers })).text()
    },
    lines: () => linesOf(storePath(data)),
    get: async (path) => (await fetch(`http://127.0.0.1:${running().port}${path}`)).json(),
    metrics,
    async metric(name) {
      const line = (await metrics()).split('\n').find((one) => one.startsWith(`${name} `))
      return line === undefined ? 0 : Number(line.slice(name.length + 1))
    },
    logged: () => logged,
    until,
    async asked() {
      const before = servers.map((server) => server.requests())
      await until('every server is asked', () =>
        servers.every((server, index) => server.requests() >= (before[index] ?? 0) + 2),
      )
    },
    stop,
    async start() {
      service = await start()
    },
    async [Symbol.asyncDispose]() {
      await stop()
      await clean()
    },
  }
}
