import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fetchDescribed } from './described.ts'
import { startDaybook, type Ended } from './started-daybook.ts'

/** Time limit of a request. */
const ANSWER_MS_MAX = 30_000
const TOKEN = 'a-token-of-the-process-that-is-long-enough-0123456789'

/** Receipt of a draft, from the publish API's answer. One that is held, failed or dropped has no seq. */
type PublishReceipt = Readonly<{
  ref: string
  status: 'published' | 'duplicate' | 'held' | 'failed' | 'dropped'
  seq: number
}>
type PublishAnswer = Readonly<{
  status: number
  headers: Headers
  drafts: readonly PublishReceipt[]
  /** Code of the problem; empty when the drafts were accepted. */
  code: string
}>

/** `daybook serve` in a child process, on a directory that outlives it. */
export type NodeProcess = Readonly<{
  /** Public base URL. */
  url: string
  /** Base URL of the private listener. */
  publishUrl: string
  /** Publish token of the private listener. */
  token: string
  child: ChildProcess
  /** Standard error so far. */
  stderr(): string
  publish(drafts: readonly object[], signal?: AbortSignal): Promise<PublishAnswer>
  /** Sends a signal and waits for the end. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ended>
}>

/** Starts the service. `wrapper` is a command before it, such as one that sets a limit. `own` is the command of Daybook. */
export async function startNode(
  data: string,
  options: readonly string[] = [],
  wrapper: readonly string[] = [],
  own: 'serve' | 'demo' | 'cluster' = 'serve',
): Promise<NodeProcess> {
  const tokenFile = `${data}.token`
  writeFileSync(tokenFile, TOKEN)
  const log = own === 'cluster' ? ['--data', data] : ['--data', data, '--chain', 'opaque', '--development']
  const words = [own === 'cluster' ? 'serve' : own, ...log, '--port', '0', '--publish-port', '0']
  const fixed = ['--publish-token-file', tokenFile, '--rate-limit', 'off', '--drain', '0']
  // The last of two equal options counts, so `options` override the fixed ones.
  const daybook = startDaybook([...words, ...fixed, ...options], { before: wrapper })
  const { url, publishUrl } = await daybook.addresses()
  return {
    url,
    publishUrl,
    token: TOKEN,
    child: daybook.child,
    stderr: daybook.stderr,
    publish: (drafts, signal) => publishTo({ publishUrl, token: TOKEN }, drafts, signal),
    end: daybook.end,
  }
}

/** Sends drafts to a publish API. */
export async function publishTo(
  { publishUrl, token }: Readonly<{ publishUrl: string; token: string }>,
  drafts: readonly object[],
  signal?: AbortSignal,
): Promise<PublishAnswer> {
  const response = await fetch(`${publishUrl}/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(drafts),
    signal: signal ?? AbortSignal.timeout(ANSWER_MS_MAX),
  })
  const body = (await response.json()) as { drafts?: PublishReceipt[]; code?: string }
  return {
    status: response.status,
    headers: response.headers,
    drafts: body.drafts ?? [],
    code: body.code ?? '',
  }
}

/** Lines of the log after `after`, read through the public API. */
export async function readLines(url: string, after: number): Promise<readonly string[]> {
  const lines: string[] = []
  for (;;) {
    const response = await fetchDescribed(`${url}/api/v1/events?limit=10000&after=${after + lines.length}`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    assert.equal(response.status, 200)
    const { events, page } = (await response.json()) as { events: object[]; page: { hasMore: boolean } }
    for (const event of events) lines.push(JSON.stringify(event))
    if (!page.hasMore) return lines
  }
}
