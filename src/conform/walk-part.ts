import { fieldsFault } from './fields.ts'
import { type ConformRun, HELD, notApplicable, type ConformPart, type SentenceVerdict } from './part.ts'
import { MOVED_MAX, requestText, STANDING_LOG } from './run-script.ts'
import { ANSWER_BYTES_MAX, type SentAnswer, type SentRequest, unansweredBy } from './sender.ts'

/** A sentence of a walk does not hold. */
class BrokenSentence extends Error {
  override readonly name = 'BrokenSentence'
  readonly request: string
  readonly wanted: string
  readonly was: string

  constructor(request: string, wanted: string, was: string) {
    super(`${wanted}: ${was}`)
    this.request = request
    this.wanted = wanted
    this.was = was
  }
}

/** The log lacks what a sentence of a walk is about. */
class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** Sentence of a walk. `check` throws through `assertHolds` or `assertApplies`. */
export type WalkSentence<State> = Readonly<{
  sentence: string
  /** Requests of a log that is as long as the walk. */
  requests: number
  check(run: ConformRun, state: State): Promise<void>
}>

/** The part of a walk. Its first sentence reads what the others compare with. */
export function walkPart<State>(
  name: string,
  first: Readonly<{ sentence: string; requests: number; read(run: ConformRun): Promise<State> }>,
  others: readonly WalkSentence<State>[],
): ConformPart {
  return {
    name,
    sentences: [first, ...others].map(({ sentence }) => sentence),
    requests: [first, ...others].reduce((sum, { requests }) => sum + requests, 0),
    async run(run) {
      const read: { state?: State } = {}
      const verdict = await verdictOf(async () => {
        read.state = await first.read(run)
      })
      const { state } = read
      if (state === undefined) return [verdict, ...others.map(() => laterThan(verdict, first.sentence))]
      const verdicts = [verdict]
      for (const { check } of others) verdicts.push(await verdictOf(() => check(run, state)))
      return verdicts
    },
  }
}

function laterThan(verdict: SentenceVerdict, sentence: string): SentenceVerdict {
  return verdict.is === 'broken' ? { is: 'not asked', why: `it needs the answer to: ${sentence}` } : verdict
}

async function verdictOf(work: () => Promise<void>): Promise<SentenceVerdict> {
  try {
    await work()
    return HELD
  } catch (error) {
    if (error instanceof NotApplicable) return notApplicable(error.message)
    const { request, wanted, was } =
      error instanceof BrokenSentence
        ? error
        : { request: '', wanted: 'an answer', was: unansweredBy(error).message }
    return { is: 'broken', request, faults: [{ wanted, was }] }
  }
}

/** Throws the fault of a sentence unless the fact holds. */
export function assertHolds(fact: boolean, request: string, wanted: string, was: unknown): asserts fact {
  if (!fact) throw new BrokenSentence(request, wanted, typeof was === 'string' ? was : JSON.stringify(was))
}

/** Ends a sentence as not applicable unless the log has what it needs. */
export function assertApplies(fact: boolean, needs: string): asserts fact {
  if (!fact) throw new NotApplicable(needs)
}

/**
 * Asks for an answer with status 200 and the fields of the OpenAPI document. `length` is `any` for an answer that may be
 * longer than what is read, such as the open month.
 */
export async function get(
  { sender }: ConformRun,
  target: string,
  more: Partial<SentRequest> = {},
  length: 'bounded' | 'any' = 'bounded',
): Promise<SentAnswer> {
  const request = { method: 'GET', target, ...more }
  const shown = requestText(request)
  const answer = await sender.send(request).catch((error: unknown) => {
    throw new BrokenSentence(shown, 'an answer', unansweredBy(error).message)
  })
  assertHolds(answer.code === 200, shown, 'status 200', `status ${answer.code}`)
  assertApplies(!answer.isCut || length === 'bounded', `an answer of ${ANSWER_BYTES_MAX} bytes at most`)
  assertHolds(!answer.isCut, shown, `${ANSWER_BYTES_MAX} bytes at most`, 'more bytes')
  const fault = fieldsFault(target, answer)
  if (fault !== null) throw new BrokenSentence(shown, fault.wanted, fault.was)
  return answer
}

/** Two or more answers that must agree: the difference, and the seqs that they are of. */
export type Compared = Readonly<{
  request: string
  wanted: string
  /** The difference; null when the answers agree. */
  was: string | null
  seqs: readonly (string | null)[]
}>

/**
 * Compares answers of one moment. When they differ, they are asked for again at once: the log may have moved between
 * them, or the minute that they state. `count` is the number of their requests.
 */
export async function assertSteady(
  run: ConformRun,
  count: number,
  ask: (reserved: boolean) => Promise<Compared>,
): Promise<void> {
  /** Differences of answers of one seq. The second is no new minute. */
  let differences = 0
  for (let attempt = 0; attempt <= MOVED_MAX; attempt++) {
    if (attempt > 0) await run.sender.reserve('/api/v1/status', count)
    const { request, wanted, was, seqs } = await ask(attempt > 0)
    if (was === null) return
    if (new Set(seqs).size <= 1) differences += 1
    assertHolds(differences < 2, request, wanted, was)
  }
  assertApplies(false, STANDING_LOG)
}
