import type { EngineConnection } from '../../src/engine/log-engine.ts'
import type { Book } from '../../src/publish/replica/replica-book.ts'
import type { CommitResult } from '../../src/publish/replica/commit-jobs.ts'

/** A change that breaks the rules of the writer. The model must notice it. */
export type Mutant = Readonly<{
  book?(book: Book): Book
  connection?(connection: EngineConnection, book: Book): EngineConnection
  result?<Value>(result: CommitResult<Value>): CommitResult<Value>
}>

export const NO_MUTANT: Mutant = {}

/** Offers nothing again when the engine has lost its tail. */
export const FORGETFUL: Mutant = { book: (book) => ({ ...book, kept: () => [] }) }

/** Mutants that random schedules show. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'calls an unknown append not appended': {
    result: (result) => (result.is === 'unknown' ? { is: 'unavailable', reason: 'a mutant' } : result),
  },
  'calls an unknown append appended': {
    connection: (connection) => ({
      ...connection,
      log: {
        ...connection.log,
        append: async (place, bytes) =>
          (await connection.log.append(place, bytes)) === 'taken' ? 'taken' : 'appended',
      },
    }),
  },
  'offers at another place': {
    connection: (connection) => ({
      ...connection,
      log: {
        ...connection.log,
        async append(place, bytes) {
          const answer = await connection.log.append(place, bytes)
          return answer === 'taken' ? await connection.log.append(place + 1, bytes) : answer
        },
      },
    }),
  },
  'skips the barrier': {
    connection: (connection, book) => ({
      ...connection,
      log: { ...connection.log, last: async () => book.applied().place },
    }),
  },
  'offers no lost message again': FORGETFUL,
}

/** The engine shows a single message only at the third question for it, as a lagging replica does. No rule is broken. */
export const LATE_TO_SHOW: Mutant = {
  connection(connection) {
    let questions = 0
    return {
      ...connection,
      log: {
        ...connection.log,
        async read(from, bytesMax) {
          const isSingle = bytesMax === 1
          if (isSingle) questions += 1
          return isSingle && questions < 3 ? [] : await connection.log.read(from, bytesMax)
        },
      },
    }
  },
}

/** A mutant that only a certain story shows. */
export const DEAF: Mutant = {
  connection: (connection) => ({ ...connection, tell: () => undefined, onTold: () => undefined }),
}
