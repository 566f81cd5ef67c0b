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
  const door = { address: addressOf(settings.to), token: readToken(settings.tokenFile), stop: world.stop }
  const total = settings.file === null ? 0 : sizeOf(settings.file)
  const source = settings.file === null ? input : createReadStream(settings.file)
  const progress = openProgress('publishing', 'bytes', world)
  const sent: Sent = { published: 0, duplicates: 0, held: 0 }
  try {
    let firstLine = 1
    let bytes = 0
    for await (const lines of batches(source, world.stop)) {
      const failure = await send(door, lines, sent)
      if (failure !== null) {
        progress.end()
        const { draft, field, reason } = failure
        const line = draft === null ? '' : `line ${lines[draft]?.number ?? firstLine}`
        const place = [settings.file ?? 'standard input', line, field ?? ''].filter((part) => part !== '')
        tell(world, `${place.join(', ')}: ${reason}`)
        report(sent, world)
        return 1
      }
      firstLine = (lines.at(-1)?.number ?? 0) + 1
      bytes += lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
      progress.at(bytes, Math.max(total, bytes), ` | ${sent.published + sent.duplicates} drafts`)
      if (world.stop.aborted) break
    }
    if (world.stop.aborted) {
      report(sent, world)
      throw new CommandError(1, `stopped before line ${firstLine}: the same command goes on from there`)
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

/** Where the door is, what opens it, and the signal that calls the command off. */
type Door = Readonly<{ address: URL; token: string; stop: AbortSignal }>

function addressOf(to: string): URL {
  const url = /^https?:\/\//.test(to) ? URL.parse('/publish', to) : null
  if (url === null) throw new CommandError(2, '--to is an address such as http://127.0.0.1:8081')
  return url
}

function readToken(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new CommandError(2, `the token file ${file} cannot be read`, { cause })
  }
  const token = text.split('\n')[0]?.trim() ?? ''
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CommandError(2, `the first line of ${file} is no token`)
  return token
}

function sizeOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandError(2, `${file} does not exist`)
  if (found.isDirectory()) throw new CommandError(2, `${file} is a directory`)
  return found.size
}

type Line = Readonly<{ number: number; text: string }>

async function* batches(source: Readable, stop: AbortSignal): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = []
  let bytes = 0
  let number = 0
  for await (const text of createInterface({ input: source, crlfDelay: Infinity, signal: stop })) {
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
  // An input that was called off has not ended: what is gathered of it waits for the next time.
  if (batch.length > 0 && !stop.aborted) yield batch
}

/** Why a request failed: the draft and the field at fault, where there is one. */
type Failure = Readonly<{ draft: number | null; field: string | null; reason: string }>

function failed(reason: string): Failure {
  return { draft: null, field: null, reason }
}

async function send(door: Door, lines: readonly Line[], sent: Sent): Promise<Failure | null> {
  for (let attempt = 1; ; attempt++) {
    const response = await post(door, lines)
    if (response === null) {
      if (door.stop.aborted) return failed('stopped; what became of the last request is unknown')
      if (attempt === TRIES_MAX) return failed('the publish door cannot be reached')
      await pause(RETRY_MS, door.stop)
      continue
    }
    // What is no JSON has come from something else that listens there.
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok && listIn(answer, 'drafts').length === lines.length) return count(answer, sent)
    if ((response.status === 503 || response.status === 507) && attempt < TRIES_MAX) {
      await pause(Number(response.headers.get('retry-after') ?? 1) * 1_000, door.stop)
      continue
    }
    return failureOf(answer)
  }
}

/** Sends one request; null when nothing answers. */
async function post({ address, token, stop }: Door, lines: readonly Line[]): Promise<Response | null> {
  try {
    return await fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: lines.map(({ text }) => text).join('\n'),
      signal: stop,
    })
  } catch {
    return null
  }
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined)
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
  const [error] = listIn(answer, 'errors')
  const draft = fieldIn(error, 'draft')
  const field = fieldIn(error, 'field')
  const message = fieldIn(error, 'message')
  if (typeof draft === 'number' && typeof field === 'string' && typeof message === 'string') {
    return { draft, field, reason: message }
  }
  const detail = fieldIn(answer, 'detail')
  return failed(typeof detail === 'string' ? detail : 'what answers there is no publish door')
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name)
  return Array.isArray(list) ? list : []
}
