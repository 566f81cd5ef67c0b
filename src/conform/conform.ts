/**
 * The room `conform` checks whether a service keeps the contract of PROTOCOL.md: the scripts of `scripts`, and walks that
 * read the same events in several ways. It may import `protocol` and `client`, and runs on a server. Whether the history
 * is true is the question of the room `verify`. Begin to read here, then `script.ts` and `run-script.ts`.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RateLimit, rateLimitIn } from '../client/pace.ts'
import { DAY_MS } from '../protocol/moment.ts'
import { SEARCHED_CHARS_MAX, valueAt } from './check.ts'
import type { LogSize, ConformPart } from './part.ts'
import { scriptPart } from './run-script.ts'
import { RunEnd, type SentAnswer, type Sender, unansweredBy } from './sender.ts'
import { WALKS } from './walks.ts'

const FIRST = '/api/v1/events/1'
const SCRIPTS = join(import.meta.dirname, 'scripts')

/** Every script and walk, in the order of a run. */
export function conformParts(): readonly ConformPart[] {
  const scripts = readdirSync(SCRIPTS)
    .toSorted()
    .map((file) => scriptPart(file.replace(/\.txt$/, ''), readFileSync(join(SCRIPTS, file), 'utf8')))
  return [...scripts, ...WALKS]
}

/** A service that answers as a Daybook. Its texts come from outside. */
export type FoundDaybook = Readonly<{
  version: string
  origin: string
  log: LogSize
  rateLimit: RateLimit | null
}>

/** Asks a service for its status and its first event. Throws `RunEnd` when it is no Daybook, or does not answer. */
export async function findDaybook(sender: Sender): Promise<FoundDaybook> {
  const answer = await asked(sender, '/api/v1/status')
  const status: unknown = jsonOf(answer, '/api/v1/status')
  const events = valueAt(status, 'head.seq')
  const nowMs = valueAt(status, 'now.atMs')
  if (!Number.isSafeInteger(events) || typeof events !== 'number' || typeof nowMs !== 'number')
    throw new RunEnd('no Daybook answers here: /api/v1/status has no head')
  const first = events === 0 ? null : valueAt(jsonOf(await asked(sender, FIRST), FIRST), 'atMs')
  return {
    version: String(valueAt(status, 'version')),
    origin: String(valueAt(status, 'origin')),
    log: { events, days: typeof first === 'number' ? Math.floor((nowMs - first) / DAY_MS) : 0 },
    rateLimit: rateLimitIn(answer.headers),
  }
}

async function asked(sender: Sender, target: string): Promise<SentAnswer> {
  const answer = await sender.send({ method: 'GET', target }).catch((error: unknown) => {
    throw new RunEnd(`the service does not answer: ${unansweredBy(error).message}`, { cause: error })
  })
  const { code, body } = answer
  const location = answer.headers.get('location')
  if (code >= 300 && code < 400 && location !== null)
    throw new RunEnd(`the service redirects to ${location}: give that address`)
  if (code === 429 || code >= 500)
    throw new RunEnd(`${target} is answered with status ${code}: try again later`)
  if (code !== 200) throw new RunEnd(`no Daybook answers here: ${target} has status ${code}`)
  if (body.byteLength > SEARCHED_CHARS_MAX) throw new RunEnd(`no Daybook answers here: ${target} is too long`)
  return answer
}

function jsonOf(answer: SentAnswer, target: string): unknown {
  try {
    return answer.json()
  } catch {
    throw new RunEnd(`no Daybook answers here: ${target} is no JSON`)
  }
}
