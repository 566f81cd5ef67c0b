import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { parseCheckpoint } from '../../../src/tlog/checkpoint.ts'
import type { SeenTree } from './history.ts'

/** Longer than any answer takes on a machine that others load. A node that does not answer at all is a violation. */
const ANSWER_MS_MAX = 60_000
const BUNDLE_ENTRIES = 256
const LENGTH_BYTES = 2

async function ask(url: string, path: string): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
  } catch (cause) {
    throw new Error(`${url}${path} is not answered`, { cause })
  }
}

/** The signed tree that a node serves. Throws when it serves none. */
export async function readTree(node: string, url: string): Promise<SeenTree> {
  const response = await ask(url, '/api/v1/log/checkpoint')
  const text = await response.text()
  const checkpoint = parseCheckpoint(text.split('\n\n', 1)[0] + '\n')
  assert.ok(response.status === 200 && checkpoint !== undefined, `${node} answers ${response.status}`)
  return { node, size: checkpoint.size, root: Buffer.from(checkpoint.root).toString('hex') }
}

/** Number of held drafts in the status of a node. */
export async function readHeld(url: string): Promise<number> {
  const status = (await (await ask(url, '/api/v1/status')).json()) as { finality: { held: number } }
  return status.finality.held
}

/** Entries of the first leaves, from the bundles of the tree. */
export async function readEntries(url: string, size: number): Promise<readonly string[]> {
  const entries: string[] = []
  while (entries.length < size) {
    const width = Math.min(BUNDLE_ENTRIES, size - entries.length)
    const number = String(entries.length / BUNDLE_ENTRIES).padStart(3, '0')
    const path = `/api/v1/log/tile/entries/${number}${width < BUNDLE_ENTRIES ? `.p/${width}` : ''}`
    const response = await ask(url, path)
    assert.equal(response.status, 200, path)
    const bytes = Buffer.from(await response.arrayBuffer())
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt16BE(at)
      entries.push(bytes.toString('utf8', at + LENGTH_BYTES, at + LENGTH_BYTES + length))
      at += LENGTH_BYTES + length
    }
  }
  return entries
}

/** Paths of every endpoint that answers from the log, for the events of a run. */
function pathsOf(entries: readonly string[], months: readonly string[]): readonly string[] {
  const size = entries.length
  const contests = entries.flatMap((entry) => /"contestId":(\d+)/.exec(entry)?.[1] ?? [])
  const [first = '1', last = '1'] = [contests[0], contests.at(-1)]
  const middle = Math.max(1, Math.floor(size / 2))
  const paths = [
    '/summary /contests /contests?format=csv /contests?sort=pool /contests?outcome=paid,cancelled /schedule /schedule.ics'.split(
      ' ',
    ),
    [first, last].flatMap((id) => [`/contests/${id}`, `/contests/${id}/ledger`, `/payouts?contestId=${id}`]),
    '/payouts /payouts?kind=winner /waits /flows /flows?bucket=minute /funds /loyalty/runs /patterns /archive/SHA256SUMS'.split(
      ' ',
    ),
    '/events?limit=10000 /events?order=desc /events?type=payout&format=csv /events?nonzero=1'.split(' '),
    [`/events?after=${middle}&limit=10000&details=1`, `/events?contestId=${last}`],
    [1, middle, size].flatMap((seq) => [`/events/${seq}`, `/events/${seq}/details`, `/log/proof/${seq}`]),
    [1, middle, size].map((seq) => `/events/${seq}/corrections`),
    ['/log/checkpoint', '/log/keys', '/event-types'],
    months.flatMap((month) => [`/archive/${month}.jsonl.gz`, `/archive/${month}.details.jsonl.gz`]),
  ].flat()
  return paths.map((path) => `/api/v1${path}`)
}

/** The minute of the present: answers name it. */
const MINUTE_MS = 60_000
const ROUNDS_MAX = 3

/** SHA-256 of a node's answer at each path, status and type included. */
export async function readAnswers(
  urls: readonly (readonly [node: string, url: string])[],
  entries: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const months = [...new Set(entries.map((entry) => /"at":"(\d{4}-\d\d)/.exec(entry)?.[1] ?? ''))]
  for (let round = 1; ; round += 1) {
    const minute = Math.floor(Date.now() / MINUTE_MS)
    const found = new Map<string, Map<string, string>>()
    for (const [node, url] of urls) {
      const answers = new Map<string, string>()
      for (const path of pathsOf(entries, months)) {
        const response = await ask(url, path)
        const hash = createHash('sha256').update(await response.bytes())
        const type = response.headers.get('content-type')
        answers.set(path, `${response.status} ${type} ${hash.digest('hex')}`)
      }
      found.set(node, answers)
    }
    // All answers of one comparison have to be of the same minute.
    if (Math.floor(Date.now() / MINUTE_MS) === minute || round === ROUNDS_MAX) return found
  }
}
