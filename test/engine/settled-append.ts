import assert from 'node:assert/strict'
import type { LogEngine } from '../../src/engine/log-engine.ts'
import { EngineError, MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'

/** Result of `appendUntilRead`: whether the message at the place is ours, and whether an answer said so. */
type SettledAppend = Readonly<{ isOurs: boolean; isAcknowledged: boolean }>

/**
 * Offers the same bytes at the same place until the owner of that place has been read, as a writer does.
 * `mayGoOn` ends it: then null.
 */
export async function appendUntilRead(
  log: LogEngine,
  place: number,
  bytes: Uint8Array,
  mayGoOn: () => boolean,
): Promise<SettledAppend | null> {
  while (mayGoOn()) {
    if ((await log.append(place, bytes)) === 'appended') return { isOurs: true, isAcknowledged: true }
    const [owner] = await readOrNothing(log, place)
    if (owner !== undefined)
      return { isOurs: Buffer.compare(owner.bytes, bytes) === 0, isAcknowledged: false }
    await log.wait(place, 50)
  }
  return null
}

/** Offers a message at a place where it can never be appended, until the engine answers. */
export async function assertTaken(log: LogEngine, place: number, bytes: Uint8Array): Promise<void> {
  let answer = await log.append(place, bytes)
  while (answer === 'unknown') answer = await log.append(place, bytes)
  assert.equal(answer, 'taken', `place ${place}`)
}

/** Messages from a place on; none while the log cannot be read. */
async function readOrNothing(log: LogEngine, from: number): ReturnType<LogEngine['read']> {
  try {
    return await log.read(from, MESSAGE_BYTES_MAX)
  } catch (error) {
    if (error instanceof EngineError) return []
    throw error
  }
}

/** All messages of the log, read in pages until the barrier. */
export async function readAll(log: LogEngine): ReturnType<LogEngine['read']> {
  const end = await log.last()
  const all: Awaited<ReturnType<LogEngine['read']>>[number][] = []
  while (all.length < end) {
    const page = await log.read(all.length + 1, MESSAGE_BYTES_MAX)
    all.push(...page)
    if (page.length === 0) await log.wait(all.length + 1, 50)
  }
  return all
}
