import { ANSWERS } from '../../project/answers/computed-answers.ts'
import { keysOf } from '../../protocol/brand.ts'
import { WORD } from '../../protocol/rules.ts'
import { MINUTE_MS, type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { type Finding, findingOf, WrongError } from '../reading/finding.ts'
import { jsonInteger, type JsonObject, objectsOf, readObject } from '../reading/json-values.ts'
import type { Source } from '../reading/source.ts'
import {
  figureQuery,
  type FigureQueryPages,
  type LogExtent,
  figurePages,
  queriesTo,
} from './figure-queries.ts'
import {
  asOfSeq,
  checkOf,
  type FigureCheck,
  type FigureQuery,
  momentsOf,
  type PublishedAnswer,
  publishedIn,
  wholeIn,
} from './published-answer.ts'
import { askedAgain } from '../reading/live-source.ts'

/** Most pages of one list. */
const PAGES_MAX = 10_000

/** Published answers, and findings about wrong or missing ones. */
export type CollectedFigures = Readonly<{
  answers: readonly PublishedAnswer[]
  /** Answers that cannot be recomputed from any log. */
  wrong: readonly Readonly<{ check: FigureCheck; finding: Finding }>[]
  /** Addresses that a folder lacks. */
  absent: readonly Readonly<{ check: FigureCheck; path: string }>[]
}>

/** Settings for asking. `chance` selects moments and contests. */
export type AskFiguresSettings = Readonly<{
  source: Source
  /** Number of events that the log is known to have. Each current answer must be right up to the last of them. */
  covers: number
  chance: () => number
  /** Local clock. */
  now: () => Ms
  /** Called after each answer, with the known number of answers still to come. */
  onAnswer(left: number): void
}>

/** Fetches every published figure. Ledgers come before unpaid prizes, because they have all kinds of prize. Nothing is compared yet, so that one pass through the log serves all of them. */
export async function askFigures(settings: AskFiguresSettings): Promise<CollectedFigures> {
  const { source, chance } = settings
  const collector = openFigureCollector(settings)
  const now = await collector.ask(figureQuery('summary'), 1)
  const extent =
    source.is === 'folder' || now === null
      ? null
      : await collector.trying('summary', () => extentOf(source, publishedIn(now)))
  const pages = await collector.askPages(figurePages('contests'), 1)
  const contests = collector.contestsIn(pages)
  const picked = contests[Math.floor(chance() * contests.length)]
  const pickedTitle = picked === undefined ? undefined : titleIn(pages, picked)
  const { prizeKinds } = collector
  const known = { source, chance, extent, contests, picked, pickedTitle, prizeKinds }
  for (const endpoint of keysOf(ANSWERS)) {
    const made = await collector.trying(checkOf(endpoint), () => queriesTo(endpoint, known))
    const queries = (made ?? []).filter((one) => source.is === 'service' || isInFolder(one))
    for (const [index, one] of queries.entries()) {
      const left = queries.length - index
      await ('page' in one ? collector.askPages(one, left) : collector.ask(one, left))
    }
  }
  return collector.figures
}

/** Whether a folder has the answer: only queries without parameters have a file name. */
function isInFolder(query: FigureQuery | FigureQueryPages): boolean {
  return 'page' in query || !query.path.includes('?')
}

type FigureCollector = Readonly<{
  figures: CollectedFigures
  /** Kinds of prize in the ledgers so far. */
  prizeKinds: ReadonlySet<string>
  /** Fetches the answer to one query; null when there is none that can be recomputed. */
  ask(query: FigureQuery, left: number): Promise<PublishedAnswer | null>
  askPages(pages: FigureQueryPages, left: number): Promise<readonly PublishedAnswer[]>
  /** Contests of a list. Empty, with a finding, when it has more contests than there are events. */
  contestsIn(listed: readonly PublishedAnswer[]): readonly number[]
  /** Runs `work`. A fault becomes a finding of the check, and the result is null. */
  trying<Value>(check: FigureCheck, work: () => Promise<Value>): Promise<Value | null>
}>

function openFigureCollector({ source, covers, now, onAnswer }: AskFiguresSettings): FigureCollector {
  const answers: PublishedAnswer[] = []
  const absent: { check: FigureCheck; path: string }[] = []
  const wrong: { check: FigureCheck; finding: Finding }[] = []
  const prizeKinds = new Set<string>()
  /** Whether an answer is permanently missing. Then no other answer gets a wait for nodes that are behind. */
  let isMissing = false

  async function trying<Value>(check: FigureCheck, work: () => Promise<Value>): Promise<Value | null> {
    try {
      return await work()
    } catch (error) {
      wrong.push({ check, finding: findingOf(error) })
      return null
    }
  }

  function ask(query: FigureQuery, left: number): Promise<PublishedAnswer | null> {
    const { path } = query
    const check = checkOf(query.endpoint)
    return trying(check, async () => {
      const least = query.seq ?? (isMissing ? 0 : covers)
      const body = await askedAgain(
        source.pause,
        () => source.read(path, least),
        // A node that is behind the list of contests may lack the newest one. With a seq, the source has waited.
        (answer) => source.is === 'service' && answer === undefined && least === 0 && !isMissing,
      )
      isMissing ||= body === undefined
      onAnswer(left)
      if (body === undefined && source.is === 'service') throw new WrongError(path, 'is missing')
      if (body === undefined) {
        absent.push({ check, path })
        return null
      }
      const published = publishedIn({ path, body })
      const seq = query.seq ?? asOfSeq(path, published)
      const answer = { ...query, body, seq, statesEarlier: false, moments: momentsOf(query, published) }
      if (source.is === 'service' && query.endpoint === 'payouts') checkPresent(answer, now())
      if (query.endpoint === 'contestLedger') for (const kind of kindsIn(published)) prizeKinds.add(kind)
      answers.push(...(query.seq === null ? timesOf(answer, covers) : [answer]))
      return answer
    })
  }

  async function askPages(
    { page, next }: FigureQueryPages,
    left: number,
  ): Promise<readonly PublishedAnswer[]> {
    const pages: PublishedAnswer[] = []
    const cursors = new Set<number | null>()
    for (let after: number | null = null; cursors.size < PAGES_MAX;) {
      cursors.add(after)
      const answer = await ask(page(after), left)
      if (answer === null) return pages
      pages.push(answer)
      const address: unknown = publishedIn(answer)['next']
      if (address === null) return pages
      after = Number(next.exec(typeof address === 'string' ? address : '')?.[1])
      if (Number.isNaN(after) || cursors.has(after)) break
    }
    const { endpoint, path } = page(null)
    wrong.push({ check: checkOf(endpoint), finding: { place: path, what: 'its pages never end' } })
    return pages
  }

  function contestsIn(listed: readonly PublishedAnswer[]): readonly number[] {
    const ids = [...new Set(listed.flatMap(contestIds))]
    if (ids.length <= Math.max(0, ...listed.map(({ seq }) => seq))) return ids
    wrong.push({
      check: 'contests',
      finding: { place: 'contests', what: 'lists more contests than there are events' },
    })
    return []
  }

  return { figures: { answers, wrong, absent }, prizeKinds, ask, askPages, contestsIn, trying }
}

/** Times at which a current answer is checked: its own seq, and `covers` when that is later. */
function timesOf(answer: PublishedAnswer, covers: number): readonly PublishedAnswer[] {
  return answer.seq < covers ? [answer, { ...answer, seq: covers, statesEarlier: true }] : [answer]
}

/**
 * Largest difference in milliseconds between the clocks of the service and this machine. Payable prizes depend on the
 * time.
 */
const CLOCK_MS_MAX: number = 10 * MINUTE_MS

function checkPresent(answer: PublishedAnswer, now: Ms): void {
  const stated = wholeIn(answer.path, publishedIn(answer), 'now', 'atMs')
  if (Math.abs(stated - now) <= CLOCK_MS_MAX) return
  throw new WrongError(answer.path, 'its `now` is more than ten minutes from the local clock')
}

/** Extent of the log; null for a log without events. */
async function extentOf(source: Source, now: JsonObject): Promise<LogExtent | null> {
  const seq = asOfSeq('summary', now)
  if (seq === 0) return null
  const first = readObject('events?limit=1', (await source.read('events?limit=1')) ?? new Uint8Array(0))
  const [event] = objectsOf(first['events']) ?? []
  const firstMs = momentOf('events?limit=1', jsonInteger(event?.['atMs']))
  const lastMs = momentOf('summary', wholeIn('summary', now, 'asOf', 'atMs'))
  if (firstMs > lastMs) throw new WrongError('summary', 'asOf is before the first event')
  return { firstMs, lastMs, seq }
}

function momentOf(path: string, ms: number | undefined): Ms {
  if (ms === undefined || ms > MS_MAX) throw new WrongError(path, 'lacks a moment')
  return msOf(ms)
}

/** Kinds of prize in a ledger. Words that no kind can be are found when the ledger is recomputed. */
function kindsIn(ledger: JsonObject): readonly string[] {
  const rows = objectsOf(ledger['prizes']) ?? []
  return rows.flatMap(({ kind }) => (typeof kind === 'string' && WORD.test(kind) ? [kind] : []))
}

/** Title of a contest in a list; undefined without one. */
function titleIn(listed: readonly PublishedAnswer[], id: number): string | undefined {
  const rows = listed.flatMap((answer) => objectsOf(publishedIn(answer)['contests']) ?? [])
  const title: unknown = rows.find((row) => jsonInteger(row['id']) === id)?.['title']
  return typeof title === 'string' ? title : undefined
}

/** Ids of the contests on a page. Rows without an id are found when the page is recomputed. */
function contestIds(answer: PublishedAnswer): readonly number[] {
  const rows = objectsOf(publishedIn(answer)['contests']) ?? []
  return rows.flatMap((row) => (jsonInteger(row['id']) ?? 0) || [])
}
