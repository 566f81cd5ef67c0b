import { setTimeout as sleep } from 'node:timers/promises'
import { readAddress } from '../terminal/log-address.ts'
import { printable } from '../terminal/output.ts'
import { readToken } from './token-file.ts'

/** Most attempts of one request while the door cannot be reached or is full, and the wait between them. */
const TRIES_MAX = 5
const RETRY_MS = 1_000

/**
 * Address of the publish door, the token that opens it, the id of the log that it must belong to (null for any), and
 * the signal that stops the command.
 */
export type DoorAccess = Readonly<{ address: URL; token: string; log: string | null; stop: AbortSignal }>

/** Outcome of one draft. */
export type DoorReceipt = Readonly<{ status: string; seq: number | null }>

/** Reason why a request failed, with the index of the draft and the field at fault, if there is one. */
type DoorFailure = Readonly<{ draft: number | null; field: string | null; reason: string }>

/** Answer of the publish door to one request. */
export type DoorAnswer = Readonly<
  { ok: true; receipts: readonly DoorReceipt[]; log: string | null } | { ok: false; failure: DoorFailure }
>

/** Reads the address and the token of a publish door from the user's options. Sends nothing. */
export function openDoor(to: string, tokenFile: string, stop: AbortSignal): DoorAccess {
  const base = readAddress(to, DOOR)
  return { address: new URL('/publish', base), token: readToken(tokenFile), log: null, stop }
}

const DOOR = { what: 'the address of the publish door with --to', example: 'http://127.0.0.1:8081' }

/** Sends drafts, one a line, in one request: all or nothing. A retry never publishes an event twice. */
export async function sendDrafts(door: DoorAccess, lines: readonly string[]): Promise<DoorAnswer> {
  for (let attempt = 1; ; attempt++) {
    const response = await post(door, lines)
    if (response === null) {
      if (door.stop.aborted) return failed('stopped; the outcome of the last request is unknown')
      if (attempt === TRIES_MAX) return failed(`the publish door at ${door.address.host} cannot be reached`)
      await pause(RETRY_MS, door.stop)
      continue
    }
    // An answer that is not JSON comes from another program at that address.
    const answer: unknown = await response.json().catch(() => null)
    const receipts = listIn(answer, 'drafts')
    const log = response.headers.get('daybook-log')
    if (response.ok && receipts.length === lines.length)
      return { ok: true, receipts: receipts.map(receiptOf), log }
    if ((response.status === 503 || response.status === 507) && attempt < TRIES_MAX) {
      await pause(Number(response.headers.get('retry-after') ?? 1) * 1_000, door.stop)
      continue
    }
    // Every site may read the public listener; none the door.
    if (response.headers.has('access-control-allow-origin')) {
      return failed(`${door.address.host} is the public listener: give --to the address of the publish door`)
    }
    if (fieldIn(answer, 'code') === 'another-log') {
      return failed(
        `${door.address.host} belongs to another log (${printable(log ?? '')}) than the service (${door.log}): check --url and --to`,
      )
    }
    return { ok: false, failure: failureOf(answer) }
  }
}

function failed(reason: string): DoorAnswer {
  return { ok: false, failure: { draft: null, field: null, reason } }
}

/** Sends one request; null when nothing answers. */
async function post(
  { address, token, log, stop }: DoorAccess,
  lines: readonly string[],
): Promise<Response | null> {
  try {
    return await fetch(address, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        ...(log === null ? {} : { 'daybook-log': log }),
      },
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
  const reason =
    typeof detail === 'string' ? detail : 'the program that answered is not a publish door: check --to'
  return { draft: null, field: null, reason }
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name)
  return Array.isArray(list) ? list : []
}
