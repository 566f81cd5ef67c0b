import { openAnswerCache } from '../http/answer-cache.ts'
import type { Question } from './thread-question.ts'
import { negotiate } from '../http/coding.ts'
import { names } from '../http/etag.ts'
import type { Timed } from '../fairness/fair-places.ts'
import { openFairPlaces } from '../fairness/fair-places.ts'
import type { Coded, Reply } from '../http/route.ts'

/** Answers a caller's question, in the caller's turn. */
export type SharedAnswers = Readonly<{
  /** `gone` says whether the caller has left meanwhile: then nothing is made. */
  answer(caller: string, question: Question, gone?: () => boolean): Promise<Reply>
  /** Questions that wait for their turn. */
  waiting(): number
}>

export type SharedAnswersSettings = Readonly<{
  /** How many questions are answered at once. */
  places: number
  /** Answers one question, and says what it took; never asked more than `places` at once. */
  ask(question: Question): Promise<Timed<Reply>>
  /** Changes whenever an answer may be another: with each event, and each minute. */
  present(question: Question): string
  monotonicMs(): number
}>

/** Written to nobody. */
const NOBODY: Timed<Reply> = { value: { is: 'taken' }, tookMs: 0 }

type CodedReply = Extract<Reply, { is: 'coded' }>
type Kept = Readonly<{ body: Uint8Array; reply: CodedReply; present: string }>

/**
 * Opens the answers that all callers of a thread share. An answer made at the present state of the log is given again
 * at no cost, and one that is being made is waited for; both only in the caller's turn, so that a stranger never waits
 * behind somebody else's queue.
 */
export function openSharedAnswers(settings: SharedAnswersSettings): SharedAnswers {
  const { places, ask, present, monotonicMs } = settings
  const turns = openFairPlaces(places, monotonicMs)
  const kept = openAnswerCache<Kept>()
  const making = new Map<string, Promise<Timed<Reply>>>()

  function find(question: Question): CodedReply | undefined {
    const found = kept.get(nameOf(question))
    return found?.present === present(question) ? found.reply : undefined
  }

  async function makeAndKeep(question: Question): Promise<Timed<Reply>> {
    const at = present(question)
    const made = await ask(question)
    const reply = made.value
    // The log may have grown meanwhile: then nobody knows which state the answer is of.
    if (isWhole(question, reply) && present(question) === at) {
      kept.set(nameOf(question), { body: reply.body, reply, present: at })
    }
    return made
  }

  /** Of those who share an answer each is charged for it while it is being made; once it is made it costs nothing. */
  function share(question: Question): Promise<Timed<Reply>> {
    const found = find(question)
    if (found !== undefined) return Promise.resolve({ value: found, tookMs: 0 })
    const key = `${present(question)} ${question.ifNoneMatch ?? ''} ${nameOf(question)}`
    const known = making.get(key)
    if (known !== undefined) return known
    const made = makeAndKeep(question).finally(() => making.delete(key))
    making.set(key, made)
    return made
  }

  return {
    answer(caller, question, gone = () => false) {
      const make = question.refused === null ? share : ask
      const work = (): Promise<Timed<Reply>> => (gone() ? Promise.resolve(NOBODY) : make(question))
      if (question.refused !== null) return turns.run(caller, work)
      const found = find(question)
      return found === undefined ? turns.run(caller, work) : Promise.resolve(found)
    },
    waiting: turns.waiting,
  }
}

/** What an answer is kept under: the target as it came, and the coding. */
function nameOf({ path, rawQuery, acceptEncoding }: Question): string {
  return `${negotiate(acceptEncoding) ?? 'identity'} ${path}?${rawQuery}`
}

/** Whether the reply has its body: `encodeBody` leaves it out for a caller that holds it. */
function isWhole({ ifNoneMatch }: Question, reply: Reply): reply is CodedReply & Coded {
  return reply.is === 'coded' && !(reply.etag !== null && names(ifNoneMatch, reply.etag))
}
