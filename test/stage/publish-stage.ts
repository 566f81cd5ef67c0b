import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAppender } from '../../src/log/append.ts'
import { openHeldDrafts } from '../../src/publish/held-drafts.ts'
import {
  createStore,
  openForReading,
  openForWriting,
  readIdentity,
  storePath,
} from '../../src/log/store/store.ts'
import { type Ms, msOf } from '../../src/protocol/moment.ts'
import type { BooksRefusal } from '../../src/publish/admission/admission.ts'
import { type CommitQueue, type Committed, openCommitQueue } from '../../src/publish/commit-queue.ts'
import { createPublishApi, type PublishOutcome } from '../../src/publish/api/publish-api.ts'
import type { OperationsAnswer } from '../../src/publish/api/operations.ts'
import { recompute } from '../../src/publish/recompute.ts'
import { testSigner } from '../story/signing.ts'
import type { LastMessages } from '../../src/publish/api/held-api.ts'
import { openHeadCell } from '../../src/log/head-cell.ts'

export const PUBLISH_TOKEN = 'a-token-of-the-stage-that-is-long-enough-0123456789'
/** Second token. Two are accepted while they are being rotated. */
export const NEXT_TOKEN = 'the-next-token-of-the-stage-long-enough-0123456789'
const START_MS = Date.UTC(2026, 9, 1)

/** A response of the private publish API. `json` is empty when the body is no JSON. */
type PublishResponse = Readonly<{ status: number; headers: Headers; text: string; json: Body }>
type Body = Readonly<{
  drafts?: readonly Readonly<{ ref: string; status: string; seq: number }>[]
  code?: string
  detail?: string
  errors?: readonly Readonly<{
    draft: number
    line?: number
    ref: string | null
    field: string
    code: string
    message: string
  }>[]
}>

/** A publish API and its log, in this process. */
export type PublishStage = AsyncDisposable &
  Readonly<{
    port(): number
    /** Sends a body: a string as it is, anything else as JSON. */
    publish(
      body: unknown,
      headers?: Readonly<Record<string, string | undefined>>,
      method?: string,
    ): Promise<PublishResponse>
    /** Sends any request, with the right token unless `headers` says otherwise. */
    ask(
      method: string,
      target: string,
      body?: unknown,
      headers?: Readonly<Record<string, string | undefined>>,
    ): Promise<PublishResponse>
    queue(): CommitQueue
    /** Sets the clock, in milliseconds after the start of the stage. */
    clock(ms: number): void
    head(): number
    lines(): readonly string[]
    committed: readonly Committed[]
    outcomes: readonly PublishOutcome[]
    irregular: readonly BooksRefusal[]
    /** Errors in the publish API itself. */
    failures: readonly unknown[]
    /** Delays of answers to wrong tokens, in milliseconds. The stage does not wait for them. */
    pauses: readonly number[]
    /** Connections that were ended to make room for others. */
    crowded: Readonly<{ count: number }>
    /** Closes the log and the publish API and opens them again. */
    restart(): Promise<void>
  }>

export async function openPublishStage(
  balances: 'refuse' | 'report' = 'refuse',
  asksChain = false,
  lastMessages: LastMessages = () => null,
): Promise<PublishStage> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-address-'))
  const path = storePath(directory)
  createStore(path, { origin: 'daybook.test/publish', chain: 'opaque', simulated: false })
  const seen = {
    committed: [] as Committed[],
    outcomes: [] as PublishOutcome[],
    irregular: [] as BooksRefusal[],
    failures: [] as unknown[],
    pauses: [] as number[],
    crowded: { count: 0 },
  }
  const cell = openHeadCell()
  let nowMs = START_MS
  const now = (): Ms => msOf(nowMs)

  async function open() {
    const db = openForWriting(path)
    const queue = openCommitQueue({
      appender: openAppender(db, testSigner(db)),
      held: openHeldDrafts(db, asksChain),
      balances,
      now,
      refusal: () => null,
      monotonicMs: () => performance.now(),
      onDurable: cell.move,
      onCommit: (committed) => seen.committed.push(committed),
      onHeld: () => undefined,
      onIrregular: (refusal) => seen.irregular.push(refusal),
      isDiskFull: () => false,
      onFull: () => assert.fail('the disk is full'),
      onBroken: (error) => assert.fail(error),
    })
    const api = createPublishApi({
      steps: null,
      log: readIdentity(db).id,
      queue,
      lastMessages,
      chain: 'opaque',
      tokens: [PUBLISH_TOKEN, NEXT_TOKEN],
      operations,
      stopping: () => false,
      monotonicMs: () => nowMs,
      pause: async (ms) => void seen.pauses.push(ms),
      onRequest: (outcome) => seen.outcomes.push(outcome),
      onCrowded: () => void (seen.crowded.count += 1),
      onAnswered: () => undefined,
      tellsAccepted: false,
      requestPrefix: 'd',
      onFailure: (error) => seen.failures.push(error),
    })
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    const address = api.address()
    assert.ok(typeof address === 'object' && address !== null)
    return {
      port: address.port,
      queue,
      async close() {
        api.close()
        api.closeAllConnections()
        await once(api, 'close')
        db.close()
      },
    }
  }

  let opened = await open()
  return {
    ...seen,
    port: () => opened.port,
    publish: (body, headers, method = 'POST') => send(opened.port, [method, '/publish'], body, headers),
    ask: (method, target, body, headers) => send(opened.port, [method, target], body, headers),
    queue: () => opened.queue,
    clock: (ms) => void (nowMs = START_MS + ms),
    head: cell.read,
    lines: () => linesOf(path),
    async restart() {
      await opened.close()
      opened = await open()
    },
    async [Symbol.asyncDispose]() {
      await opened.close()
      assertConsistent(path)
      rmSync(directory, { recursive: true })
    },
  }
}

async function operations(path: string): Promise<OperationsAnswer | undefined> {
  return path === '/livez'
    ? { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok\n' }
    : undefined
}

async function send(
  port: number,
  [method, target]: readonly [method: string, target: string],
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<PublishResponse> {
  const given = { authorization: `Bearer ${PUBLISH_TOKEN}`, 'content-type': 'application/json', ...headers }
  const sent = new Headers()
  for (const [name, value] of Object.entries(given)) if (value !== undefined) sent.set(name, value)
  const whole = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    method,
    headers: sent,
    ...(method !== 'GET' && method !== 'HEAD' && { body: whole as string }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as Body) : {},
  }
}

/** Lines of a store's log, by seq. */
export function linesOf(path: string): readonly string[] {
  const db = openForReading(path)
  try {
    return db
      .prepare('SELECT line FROM events ORDER BY seq')
      .all()
      .map((row) => String(row['line']))
  } finally {
    db.close()
  }
}

/** Asserts that all tables follow from the lines, seqs are contiguous, and refs are unique. Returns the last seq. */
export function assertConsistent(path: string): number {
  const scratch = `${path}.recomputed`
  try {
    const steps = recompute(path, scratch)
    let step = steps.next()
    while (step.done !== true) step = steps.next()
    assert.deepEqual(step.value.differences, [], 'all tables follow from the log')
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${scratch}${suffix}`, { force: true })
  }
  const db = openForReading(path)
  try {
    const row = db.prepare('SELECT count(*) AS events, coalesce(max(seq), 0) AS head FROM events').get()
    const events = Number(row?.['events'])
    assert.equal(Number(row?.['head']), events, 'seqs are contiguous')
    const twice = db.prepare('SELECT count(*) - count(DISTINCT ref) AS refs FROM refs').get()
    assert.equal(Number(twice?.['refs']), 0, 'refs are unique')
    const last = linesOf(path).map((line) => (JSON.parse(line) as { atMs: number }).atMs)
    assert.deepEqual(
      last,
      last.toSorted((a, b) => a - b),
      '`at` never decreases',
    )
    return events
  } finally {
    db.close()
  }
}

/** A draft that any log accepts at any time. */
export function trade(ref: string, kots = '1', more: object = {}): object {
  return { ref, type: 'trade', kind: 'buy', kots, ...more }
}

/** Headers of a request in JSON lines. */
export const NDJSON: Readonly<{ 'content-type': string }> = { 'content-type': 'application/x-ndjson' }

export function lines(drafts: readonly unknown[]): string {
  return drafts.map((draft) => JSON.stringify(draft)).join('\n')
}

/** Receipts of an accepted request: ref, status, seq. */
export function receipts({
  status,
  json,
  text,
}: PublishResponse): readonly (readonly [string, string, number])[] {
  assert.equal(status, 200, text)
  return (json.drafts ?? []).map((draft) => [draft.ref, draft.status, draft.seq] as const)
}

/** Asserts that the response is a problem with this status and code. */
export function assertRefused(answered: PublishResponse, status: number, code: string): void {
  assert.equal(answered.json.code, code, answered.text)
  assert.equal(answered.status, status)
  assert.equal(answered.headers.get('content-type'), 'application/problem+json')
  assert.equal(answered.headers.get('cache-control'), 'no-store')
}
