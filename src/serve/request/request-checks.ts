import { type Problem, PROBLEMS } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import {
  type Counters,
  type Decision,
  formatPolicy,
  formatRateLimit,
  type Policy,
  scopeOfNothing,
  usedUp,
} from '../allowance/allowance.ts'
import { cursorAhead } from '../api/events-range.ts'
import { BEHIND_RETRY_SECONDS, BEHIND_WAIT_MS_MAX, type Following } from '../following/head-waits.ts'
import { ALLOWED_METHODS, type HeaderList, PREFLIGHT_HEADERS } from '../http/headers.ts'
import { problemReply, type Reply } from '../http/route.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RequestContext } from './request-context.ts'
import { judgeForm } from './request-form.ts'
import { TARGET_CHARS_MAX } from '../../protocol/parameters.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Found } from '../http/router.ts'
import type { NearPaths } from '../query/nearest.ts'

/** Problem that the API answers as JSON, and other paths as a page. */
export type CheckRefusal = Readonly<{ is: 'refused'; problem: Problem }>

export function checkRefusal(problem: Problem): CheckRefusal {
  return { is: 'refused', problem }
}

/** Parts of a thread that the checks of a request use. */
type CheckParts = Readonly<{
  counters: Counters | null
  near: NearPaths
  unready(): Problem | undefined
  metrics: Pick<Metrics, 'rateLimited'>
}>

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }
const NO_ENDPOINT: Problem = {
  ...NOTHING_HERE,
  detail: 'There is nothing at this address: /api/v1/openapi.json and /llms.txt name every one.',
}
const TOO_LONG: Problem = {
  code: 'uri-too-long',
  detail: `The path and query have more than ${TARGET_CHARS_MAX} characters. Shorten the query.`,
}

/**
 * Opens the checks of a request in their order. The first failed check makes the reply; undefined means that all pass.
 */
export function openChecks({
  counters,
  near,
  unready,
  metrics,
}: CheckParts): (context: RequestContext) => Reply | CheckRefusal | undefined {
  return ({ request, response, found, path, underApi, caller, decision, terms }) => {
    const { method, url = '' } = request
    const scope = found?.route.allowance ?? scopeOfNothing(path, underApi)
    if (counters !== null && scope !== 'none' && method !== 'OPTIONS') {
      const { policy, decide } = counters[scope]
      const decided = decision ?? decide(caller)
      terms.allowance = allowanceHeaders(policy, decided)
      if (!decided.allowed) {
        metrics.rateLimited.inc({ scope })
        return checkRefusal(usedUp(policy, decided))
      }
    }

    const verdict = judgeForm(request)
    if (verdict !== 'fit') {
      response.setHeader('Connection', 'close')
      if (typeof verdict !== 'string') return problemReply(verdict)
      const status = verdict === 'too-many-headers' ? 431 : 417
      return { is: 'bare', status, headers: { 'Cache-Control': 'no-store', 'Content-Length': '0' } }
    }

    if (method === 'OPTIONS') return { is: 'bare', status: 204, headers: PREFLIGHT_HEADERS }
    if (method !== 'GET' && method !== 'HEAD') {
      const problem: Problem = {
        code: 'method-not-allowed',
        detail: `The method must be one of ${ALLOWED_METHODS}.`,
      }
      return problemReply(problem, { Allow: ALLOWED_METHODS })
    }

    if (url.length > TARGET_CHARS_MAX) return checkRefusal(TOO_LONG)
    if (found === undefined) {
      const problem = underApi ? NO_ENDPOINT : NOTHING_HERE
      const meant = near(path)
      if (meant === undefined) return checkRefusal(problem)
      const slash = path.endsWith('/') ? ' An address has no slash at its end.' : ''
      const detail = `There is nothing at this address. Did you mean ${meant}?${slash}`
      return checkRefusal({ ...problem, detail })
    }

    const showsLog = underApi ? found.route.allowance !== 'none' : found.route.showsLog === true
    const problem = showsLog ? unready() : undefined
    return problem === undefined ? undefined : checkRefusal(problem)
  }
}

export function allowanceHeaders(policy: Policy, decision: Decision): HeaderList {
  return ['RateLimit-Policy', formatPolicy(policy), 'RateLimit', formatRateLimit(policy, decision)]
}

/** Wait of a request for a seq that this node lacks; undefined when it needs no wait. */
type SeqWait = (context: RequestContext) => Promise<CheckRefusal | undefined> | undefined

/**
 * Opens the waits of a following node. After its wait a request continues, or is refused as `behind`. A seq that the
 * whole log lacks continues immediately, and its route refuses it.
 */
export function openSeqWait(following: Following, metrics: Pick<Metrics, 'behind'>): SeqWait {
  const { reader, waits, waitMsMax = BEHIND_WAIT_MS_MAX } = following

  async function wait(
    { found, caller, response }: RequestContext,
    seq: number,
  ): Promise<CheckRefusal | undefined> {
    const place = await waits.wait({ seq, caller, msMax: waitMsMax, placeOnly: false }, response)
    if (place.is === 'here') return undefined
    if (place.is === 'nowhere') {
      // The route would report this node's head. A mirror of this node learns more from the head of the whole log.
      const isPage = found?.segments['seq'] === undefined && EVENT_PATHS.has(found?.route.path ?? '')
      return isPage ? checkRefusal(cursorAhead(place.head)) : undefined
    }
    response.once('close', () => {
      if (response.headersSent && response.statusCode === PROBLEMS.behind.status) metrics.behind.inc()
    })
    return checkRefusal(behind(reader.head().seq))
  }

  return (context) => {
    const { found, rawQuery } = context
    if (found === undefined || found.route.streaming === true) return undefined
    const seq = neededSeq(found, rawQuery)
    return seq === undefined || waits.isHere(seq) ? undefined : wait(context, seq)
  }
}

/** Problem of a request for a seq that this node lacks. */
function behind(head: Seq): Problem {
  return {
    code: 'behind',
    detail:
      'This node is behind the event that you ask for. Send the same request again, to this node or another.',
    members: { head },
    retryAfterSeconds: BEHIND_RETRY_SECONDS,
  }
}

const SEQ = /^[1-9]\d{0,15}(?=\.|$)/
const CURSOR = /^[1-9]\d{0,15}$/

/** Paths of the log's events, whose `after` is a seq, in the API and among the pages. */
const EVENT_PATHS: ReadonlySet<string> = new Set([
  ENDPOINT_PATHS.events,
  '/events',
  '/events.json',
  '/events.csv',
  '/events.metadata.json',
])

/** Least head that answers a request in full; undefined when the request has no seq. */
function neededSeq({ route, segments }: Found, rawQuery: string): number | undefined {
  const { seq, tile, level } = segments
  if (seq !== undefined) return wholeSeq(SEQ.exec(seq)?.[0])
  if (EVENT_PATHS.has(route.path)) {
    const after = new URLSearchParams(rawQuery).get('after') ?? ''
    return wholeSeq(CURSOR.exec(after)?.[0])
  }
  if (route.path === ENDPOINT_PATHS.logTile) return lastSeqUnder(Number(level), tile)
  if (route.path === ENDPOINT_PATHS.logEntries) return lastSeqUnder(0, tile)
  return undefined
}

/** Hashes of a full tile. */
const TILE_WIDTH = 256
/** Index of a tile in groups of three digits, and the width of a partial one. */
const TILE = /^((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Seq of the last event under a tile or an entry bundle; undefined for any other path. */
function lastSeqUnder(level: number, tile = ''): number | undefined {
  const [, groups, partial] = TILE.exec(tile) ?? []
  if (groups === undefined) return undefined
  const index = Number(groups.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  const last = (index * TILE_WIDTH + width) * TILE_WIDTH ** level
  return Number.isSafeInteger(last) ? last : undefined
}

function wholeSeq(text: string | undefined): number | undefined {
  const seq = Number(text)
  return Number.isSafeInteger(seq) ? seq : undefined
}
