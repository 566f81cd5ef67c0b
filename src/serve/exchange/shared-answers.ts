import { openAnswerCache } from '../http/answer-cache.ts'
import type { Question } from './thread-question.ts'
import { negotiate } from '../http/coding.ts'
import { names } from '../http/etag.ts'
import { openFairPlaces, type Timed } from '../fairness/fair-places.ts'
import type { Reply } from '../http/route.ts'

/** Answers questions, each in its caller's turn. */
export type SharedAnswers = Readonly<{
  /** Answers at once if the answer is cached. Makes nothing if `gone` returns true, because the caller has left. */
  answer(caller: string, question: Question, gone?: () => boolean): Promise<Reply>
  /** Number of questions that wait for their turn. */
  waiting(): number
}>

type SharedAnswersSettings = Readonly<{
  /** Number of questions answered at the same time. */
  places: number
  /** Answers one question and measures it. At most `places` are open. */
  ask(question: Question): Promise<Timed<Reply>>
  /** Name of the state of the log that the answer depends on: it changes with each commit and each minute. */
  present(question: Question): string
  monotonicMs(): number
}>

/** Reply for a caller that has left. */
const NOBODY: Timed<Reply> = { value: { is: 'taken' }, tookMs: 0 }

type CodedReply = Extract<Reply, { is: 'coded' }>
type Kept = Readonly<{ body: Uint8Array; reply: CodedReply; present: string }>

/**
 * Opens the answers that all callers of a thread share. A cached answer of the present state costs nothing. A caller
 * waits for an answer in progress in its own turn, so that no caller waits behind another caller's queue.
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
    // If the log has grown in the meantime, the state of the answer is unknown.
    if (isWhole(question, reply) && present(question) === at) {
      kept.set(nameOf(question), { body: reply.body, reply, present: at })
    }
    return made
  }

  /** Shares an answer in progress. Each caller that waits for it is charged its whole cost; a cached answer is free. */
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
      const made = question.refused === null ? find(question) : undefined
      if (made !== undefined) return Promise.resolve(made)
      const make = question.refused === null ? share : ask
      return turns.run(caller, () => (gone() ? Promise.resolve(NOBODY) : make(question)))
    },
    waiting: turns.waiting,
  }
}

/** Cache key of an answer: its coding, path and query. */
function nameOf({ path, rawQuery, acceptEncoding }: Question): string {
  return `${negotiate(acceptEncoding) ?? 'identity'} ${path}?${rawQuery}`
}

/** Whether the reply has its body. `encodeBody` leaves it out if the caller has it already. */
function isWhole({ ifNoneMatch }: Question, reply: Reply): reply is CodedReply {
  return reply.is === 'coded' && !(reply.etag !== null && names(ifNoneMatch, reply.etag))
}
