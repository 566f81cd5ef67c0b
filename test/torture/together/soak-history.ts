import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { bulkLines } from '../../../sim/bulk.ts'
import { DAY_MS, type Ms, msOf } from '../../../src/protocol/moment.ts'
import { until } from '../../processes/other-program.ts'
import { MAIN } from '../../stage/places.ts'
import { clockEnvironment } from './soak-node.ts'
import { publishTo } from '../../stage/node-process.ts'

/** Name of the log. */
const SOAK_ORIGIN = 'soak.example/log'
/**
 * Events of the log before a soak. A log that begins empty would fill caches during the soak, which looks like a leak.
 * The later ones are published, because the cache of pages of a connection holds what that connection has read or written:
 * 140,000 events, of 294 bytes in a mirror's store, fill its 32 MiB.
 */
export const HISTORY_EVENTS = 220_000
const IMPORTED_EVENTS = 80_000
const REQUEST_DRAFTS = 500
const HISTORY_DAYS = 60
/** Events of which each node is asked once in the warm-up: their answers fill the cache of those that never change. */
const ASKED_EVENTS = 26_000
const ASKED_AT_ONCE = 16

/** Imports a history that ends at `to` into an empty directory. Returns the drafts that follow it. */
export async function importHistory(data: string, to: Ms, clockFile: string): Promise<readonly string[]> {
  const file = `${data}.drafts.jsonl`
  const span = { from: msOf(to - HISTORY_DAYS * DAY_MS), to }
  const lines = [...bulkLines({ seed: 'soak', ...span, count: HISTORY_EVENTS })]
  writeFileSync(file, lines.slice(0, IMPORTED_EVENTS).join('\n'))
  const words = ['import', file, '--data', data, '--origin', SOAK_ORIGIN, '--chain', 'opaque']
  await promisify(execFile)(process.execPath, [MAIN, ...words], { env: clockEnvironment(clockFile) })
  return lines.slice(IMPORTED_EVENTS)
}

/** Publishes drafts of a history at a publish API. Their moment is the present one. */
export async function publishHistory(
  publishUrl: string,
  token: string,
  lines: readonly string[],
): Promise<void> {
  const drafts = lines.map((line) => {
    const { at: _imported, ...draft } = JSON.parse(line) as Record<string, unknown>
    return draft
  })
  for (let from = 0; from < drafts.length; from += REQUEST_DRAFTS) {
    const answer = await publishTo({ publishUrl, token }, drafts.slice(from, from + REQUEST_DRAFTS))
    assert.equal(answer.status, 200, answer.code)
  }
}

/** Asks each node for many events, so that its caches are as full as on a platform that has been busy for long. */
export async function fillCaches(urls: readonly string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  let next = 0
  const asker = async (): Promise<void> => {
    while (next < ASKED_EVENTS) {
      next += 1
      const seq = HISTORY_EVENTS - ASKED_EVENTS + next
      // A mirror that still follows its origin does not have the event yet.
      for (const url of urls)
        await until(
          `${url} has event ${seq}`,
          async () => (await statusOf(`${url}/api/v1/events/${seq}`, agent)) === 200,
        )
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, asker))
  // No connection is left open: a soak counts the handles of its nodes.
  agent.destroy()
}

/** Status of an answer, which is read to its end. */
async function statusOf(url: string, agent: Agent): Promise<number | undefined> {
  const [answer] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
  await text(answer)
  return answer.statusCode
}
