import { setTimeout as sleep } from 'node:timers/promises'
import { readAddress } from '../terminal/log-address.ts'
import { readStart } from '../terminal/option-paths.ts'
import { CommandError } from '../terminal/world.ts'

/** Tries of one request while the door cannot be reached or is full, and the wait between them. */
const TRIES_MAX = 5
const RETRY_MS = 1_000
/** Bytes that are read of a file with a token. */
const TOKEN_FILE_BYTES_MAX = 4_096

/** Where the door is, what opens it, and the signal that calls the command off. */
export type DoorAccess = Readonly<{ address: URL; token: string; stop: AbortSignal }>

/** What became of one draft. */
export type DoorReceipt = Readonly<{ status: string; seq: number | null }>

/** Why a request failed: the draft and the field at fault, where there is one. */
export type DoorFailure = Readonly<{ draft: number | null; field: string | null; reason: string }>

export type DoorAnswer = Readonly<
  { ok: true; receipts: readonly DoorReceipt[] } | { ok: false; failure: DoorFailure }
>

/** Takes the address and the token of a publish door as its user gave them; nothing is sent. */
export function openDoor(to: string, tokenFile: string, stop: AbortSignal): DoorAccess {
  const base = readAddress(to, DOOR)
  return { address: new URL('/publish', base), token: readToken(tokenFile), stop }
}

const DOOR = { what: 'the address of the publish door with --to', example: 'http://127.0.0.1:8081' }

function readToken(file: string): string {
  let text: string
  try {
    text = readStart(file, TOKEN_FILE_BYTES_MAX)
  } catch (cause) {
    throw new CommandError(2, `the token file ${file} cannot be read`, { cause })
  }
  const token = text.split('\n')[0]?.trim() ?? ''
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CommandError(2, `the first line of ${file} is no token`)
  return token
}

/** Sends drafts, a line each, in one request: all or nothing. A retry never doubles an event. */
export async function sendDrafts(door: DoorAccess, lines: readonly string[]): Promise<DoorAnswer> {
  for (let attempt = 1; ; attempt++) {
    const response = await post(door, lines)
    if (response === null) {
      if (door.stop.aborted) return failed('stopped; what became of the last request is unknown')
      if (attempt === TRIES_MAX) return failed(`the publish door at ${door.address.host} cannot be reached`)
      await pause(RETRY_MS, door.stop)
      continue
    }
    // What is no JSON has come from something else that listens there.
    const answer: unknown = await response.json().catch(() => null)
    const receipts = listIn(answer, 'drafts')
    if (response.ok && receipts.length === lines.length)
      return { ok: true, receipts: receipts.map(receiptOf) }
    if ((response.status === 503 || response.status === 507) && attempt < TRIES_MAX) {
      await pause(Number(response.headers.get('retry-after') ?? 1) * 1_000, door.stop)
      continue
    }
    // The public listener says of every answer which log it is of; the door does not.
    if (response.headers.has('daybook-log')) {
      return failed(`${door.address.host} is where readers ask: give --to the address of the publish door`)
    }
    return { ok: false, failure: failureOf(answer) }
  }
}

function failed(reason: string): DoorAnswer {
  return { ok: false, failure: { draft: null, field: null, reason } }
}

/** Sends one request; null when nothing answers. */
async function post(
  { address, token, stop }: DoorAccess,
  lines: readonly string[],
): Promise<Response | null> {
  try {
    return await fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
      signal: stop,
    })
  } catch {
    return null
  }
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined)
}

function receiptOf(receipt: unknown): DoorReceipt {
  const [status, seq] = [fieldIn(receipt, 'status'), fieldIn(receipt, 'seq')]
  return { status: typeof status === 'string' ? status : '', seq: typeof seq === 'number' ? seq : null }
}

function failureOf(answer: unknown): DoorFailure {
  const [error] = listIn(answer, 'errors')
  const draft = fieldIn(error, 'draft')
  const field = fieldIn(error, 'field')
  const message = fieldIn(error, 'message')
  if (typeof draft === 'number' && typeof field === 'string' && typeof message === 'string') {
    return { draft, field, reason: message }
  }
  const detail = fieldIn(answer, 'detail')
  const reason = typeof detail === 'string' ? detail : 'what answers there is no publish door'
  return { draft: null, field: null, reason }
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name)
  return Array.isArray(list) ? list : []
}
