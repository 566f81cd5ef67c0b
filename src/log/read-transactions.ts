import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'

/** Read transactions of one connection, one at a time. */
type ReadTransactions<Seen> = Readonly<{
  /** Runs `ask` in the shared transaction that is open, or in one of its own. */
  read<T>(ask: (seen: Seen) => T): T
  /**
   * Runs `ask`, in which all reads share one transaction. It begins with the first read, and ends with `ask` or when the
   * event loop turns. Rejects in the second case, because the reads saw different states.
   */
  share<T>(ask: () => Promise<T>): Promise<T>
  /** Ends the shared transaction, if one is open. */
  end(): void
}>

type Shared<Seen> = {
  /** The state that the transaction reads; undefined before its first read. */
  seen: Seen | undefined
  /** Calls of `share` that have not ended. */
  users: number
  turn: NodeJS.Immediate
}

/** Opens the read transactions of a connection. `look` makes the state that a transaction reads, once it has begun. */
export function openReadTransactions<Seen extends object>(
  db: DatabaseSync,
  look: () => Seen,
): ReadTransactions<Seen> {
  const transaction = { begin: db.prepare('BEGIN'), end: db.prepare('COMMIT') }
  let shared: Shared<Seen> | undefined
  let asking = false

  function readAlone<T>(ask: (seen: Seen) => T): T {
    transaction.begin.run()
    try {
      return ask(look())
    } finally {
      transaction.end.run()
    }
  }

  function readShared<T>(one: Shared<Seen>, ask: (seen: Seen) => T): T {
    if (one.seen === undefined) {
      transaction.begin.run()
      try {
        one.seen = look()
      } catch (error) {
        transaction.end.run()
        throw error
      }
    }
    return ask(one.seen)
  }

  function begin(): Shared<Seen> {
    // SQLite cannot empty the write-ahead log while a transaction reads, so none outlasts a turn of the event loop.
    const one: Shared<Seen> = { seen: undefined, users: 0, turn: setImmediate(() => end(one)) }
    return one
  }

  function end(one: Shared<Seen>): void {
    clearImmediate(one.turn)
    if (shared !== one) return
    shared = undefined
    if (one.seen !== undefined) transaction.end.run()
  }

  return {
    read(ask) {
      assert(!asking, 'a snapshot is asked inside another')
      asking = true
      try {
        return shared === undefined ? readAlone(ask) : readShared(shared, ask)
      } finally {
        asking = false
      }
    },
    async share(ask) {
      const one = (shared ??= begin())
      one.users += 1
      try {
        const answer = await ask()
        assert(shared === one, 'what shares a snapshot awaits no turn of the event loop')
        return answer
      } finally {
        one.users -= 1
        if (one.users === 0) end(one)
      }
    },
    end() {
      if (shared !== undefined) end(shared)
    },
  }
}
