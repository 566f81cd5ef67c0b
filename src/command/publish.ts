import { createReadStream, readFileSync, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { DRAFT_LINE_BYTES_MAX } from '../protocol/draft.ts'
import { openProgress } from './progress.ts'
import type { ExitCode, World } from './world.ts'
import { CommandError, tell } from './world.ts'

export type PublishSettings = Readonly<{
  /** A file of JSON lines, or null for standard input. */
  file: string | null
  to: string
  tokenFile: string
}>

/** Drafts of one request; each request is all or nothing, the command goes on from the first that failed. */
const REQUEST_DRAFTS = 1_000
const REQUEST_BYTES = 8 * 1024 * 1024
/** Tries of one request while the door cannot be reached or is full, and the wait between them. */
const TRIES_MAX = 5
const RETRY_MS = 1_000

type Sent = { published: number; duplicates: number; held: number }

/** Sends drafts to a publish door, in order. A retry never doubles an event: drafts are known by their refs. */
export async function publish(settings: PublishSettings, input: Readable, world: World): Promise<ExitCode> {
  const token = readFileSync(settings.tokenFile, 'utf8').split('\n')[0]?.trim() ?? ''
  const total = settings.file === null ? 0 : statSync(settings.file).size
  const source = settings.file === null ? input : createReadStream(settings.file)
  const progress = openProgress('publishing', 'bytes', world)
  const sent: Sent = { published: 0, duplicates: 0, held: 0 }
  try {
    let firstLine = 1
    let bytes = 0
    for await (const lines of batches(source)) {
      const failure = await send(settings.to, token, lines, sent)
      if (failure !== null) {
        progress.end()
        const line = failure.draft === null ? '' : ` line ${lines[failure.draft]?.number ?? firstLine}:`
        tell(world, `${settings.file ?? 'standard input'}:${line} ${failure.reason}`)
        report(sent, world)
        return 1
      }
      firstLine = (lines.at(-1)?.number ?? 0) + 1
      bytes += lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
      progress.at(bytes, Math.max(total, bytes), ` | ${sent.published + sent.duplicates} drafts`)
      if (world.stop.aborted) throw new CommandError(1, `stopped before line ${firstLine}`)
    }
  } finally {
    progress.end()
  }
  report(sent, world)
  return 0
}

function report({ published, duplicates, held }: Sent, world: World): void {
  world.stdout.write(`${published} published, ${duplicates} were there already, ${held} held\n`)
}

type Line = Readonly<{ number: number; text: string }>

async function* batches(source: Readable): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = []
  let bytes = 0
  let number = 0
  for await (const text of createInterface({ input: source, crlfDelay: Infinity })) {
    number += 1
    if (text.trim() === '') continue
    const size = Buffer.byteLength(text)
    if (size > DRAFT_LINE_BYTES_MAX) {
      throw new CommandError(1, `line ${number} is longer than ${DRAFT_LINE_BYTES_MAX} bytes`)
    }
    if (batch.length === REQUEST_DRAFTS || bytes + size > REQUEST_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push({ number, text })
    bytes += size
  }
  if (batch.length > 0) yield batch
}

type Failure = Readonly<{ draft: number | null; reason: string }>

async function send(to: string, token: string, lines: readonly Line[], sent: Sent): Promise<Failure | null> {
  for (let attempt = 1; ; attempt++) {
    let response: Response
    try {
      response = await fetch(new URL('/publish', to), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body: lines.map(({ text }) => text).join('\n'),
      })
    } catch (cause) {
      if (attempt === TRIES_MAX) throw new CommandError(1, 'the publish door cannot be reached', { cause })
      await sleep(RETRY_MS)
      continue
    }
    const answer: unknown = await response.json()
    if (response.ok) return count(answer, sent)
    if ((response.status === 503 || response.status === 507) && attempt < TRIES_MAX) {
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000)
      continue
    }
    return failureOf(answer)
  }
}

function count(answer: unknown, sent: Sent): null {
  for (const receipt of listIn(answer, 'drafts')) {
    const status = fieldIn(receipt, 'status')
    if (status === 'published') sent.published += 1
    else if (status === 'duplicate') sent.duplicates += 1
    else sent.held += 1
  }
  return null
}

function failureOf(answer: unknown): Failure {
  const detail = fieldIn(answer, 'detail')
  const draft = fieldIn(listIn(answer, 'errors')[0], 'draft')
  return {
    draft: typeof draft === 'number' ? draft : null,
    reason: typeof detail === 'string' ? detail : 'the door refused without a reason',
  }
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name)
  return Array.isArray(list) ? list : []
}
