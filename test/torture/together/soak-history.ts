import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { bulkLines } from '../../../sim/bulk.ts'
import type { Ms } from '../../../src/protocol/moment.ts'
import { DAY_MS, msOf } from '../../../src/protocol/moment.ts'
import { until } from '../../processes/other-program.ts'
import { MAIN } from '../../stage/places.ts'
import { clockEnvironment } from './soak-node.ts'

/** Name of the log. */
export const SOAK_ORIGIN = 'soak.example/log'
/**
 * Events of the log before a soak. Their store is larger than the cache of pages of a connection, and their answers than
 * the cache of answers. A log that begins empty would fill both during the soak, which looks like a leak.
 */
export const HISTORY_EVENTS = 80_000
const HISTORY_DAYS = 60
/** Events of which each node is asked once in the warm-up: their answers fill the cache of those that never change. */
const ASKED_EVENTS = 26_000
const ASKED_AT_ONCE = 16

/** Imports a history that ends at `to` into an empty directory. */
export async function importHistory(data: string, to: Ms, clockFile: string): Promise<void> {
  const file = `${data}.drafts.jsonl`
  const span = { from: msOf(to - HISTORY_DAYS * DAY_MS), to }
  writeFileSync(file, [...bulkLines({ seed: 'soak', ...span, count: HISTORY_EVENTS })].join('\n'))
  const words = ['import', file, '--data', data, '--origin', SOAK_ORIGIN, '--chain', 'opaque']
  await promisify(execFile)(process.execPath, [MAIN, ...words], { env: clockEnvironment(clockFile) })
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
