import TinyQueue from 'tinyqueue'

/** Pace of the questions about one transaction, in milliseconds. */
export type PollPace = Readonly<{
  /** Time from the acceptance of its draft to the first query. Two queries are at least three quarters of it apart. */
  firstMs: number
  /** Between two questions at most, while the budget lasts. */
  longestMs: number
}>

export const POLL_PACE: PollPace = { firstMs: 2_000, longestMs: 60_000 }

/** Share of a transaction's age after which it is asked about again. */
const AGE_PART = 1 / 2
/** Largest share by which an interval is shortened, to spread transactions of one moment. */
const SPREAD_PART = 1 / 4

/**
 * Time of the next query about each transaction, by a monotonic clock in milliseconds.
 *
 * The interval between two queries is half the age of the transaction, within the pace. So a settlement is found within
 * one and a half times the time that the chain took. A restart needs no memory of earlier queries.
 */
export type PollSchedule = Readonly<{
  /** Adds a transaction that was accepted `ageMs` ago. A known one is unchanged. */
  add(tx: string, ageMs: number, nowMs: number): void
  /** Forgets a transaction. */
  remove(tx: string): void
  has(tx: string): boolean
  size(): number
  /**
   * Takes at most `max` transactions that are due, and plans their next queries. Half of them are young and half old
   * while both wait, each in the order in which they are due. So neither group blocks the other.
   */
  take(max: number, nowMs: number): readonly string[]
  /** Time at which the next transaction is due; null without one. */
  dueAt(): number | null
}>

type Turn = { tx: string; bornMs: number; dueMs: number; removed: boolean }

/** Opens an empty schedule. `random` is from 0 inclusive to 1 exclusive. */
export function openPollSchedule(pace: PollPace, random: () => number): PollSchedule {
  const turns = new Map<string, Turn>()
  const byDue = (): TinyQueue<Turn> => new TinyQueue<Turn>([], (a, b) => a.dueMs - b.dueMs)
  const young = byDue()
  const old = byDue()

  const interval = (ageMs: number): number =>
    Math.min(Math.max(ageMs * AGE_PART, pace.firstMs), pace.longestMs)
  const plan = (turn: Turn, dueMs: number): void => {
    turn.dueMs = dueMs
    const isYoung = interval(dueMs - turn.bornMs) < pace.longestMs
    const queue = isYoung ? young : old
    queue.push(turn)
  }
  const dueIn = (queue: TinyQueue<Turn>): number | null => {
    while (queue.peek()?.removed === true) queue.pop()
    return queue.peek()?.dueMs ?? null
  }
  const pop = (queue: TinyQueue<Turn>, nowMs: number): Turn | undefined => {
    const due = dueIn(queue)
    return due !== null && due <= nowMs ? queue.pop() : undefined
  }

  return {
    add(tx, ageMs, nowMs) {
      if (turns.has(tx)) return
      const age = Math.max(0, ageMs)
      const turn = { tx, bornMs: nowMs - age, dueMs: 0, removed: false }
      turns.set(tx, turn)
      // After a restart all transactions are overdue, so each is spread over its interval.
      plan(turn, age < pace.firstMs ? nowMs - age + pace.firstMs : nowMs + random() * interval(age))
    },
    remove(tx) {
      const turn = turns.get(tx)
      if (turn === undefined) return
      turn.removed = true
      turns.delete(tx)
    },
    has: (tx) => turns.has(tx),
    size: () => turns.size,
    take(max, nowMs) {
      const taken: Turn[] = []
      while (taken.length < max) {
        const [first, second] = taken.length % 2 === 0 ? [young, old] : [old, young]
        const turn = pop(first, nowMs) ?? pop(second, nowMs)
        if (turn === undefined) break
        taken.push(turn)
      }
      for (const turn of taken) {
        plan(turn, nowMs + interval(nowMs - turn.bornMs) * (1 - SPREAD_PART * random()))
      }
      return taken.map(({ tx }) => tx)
    },
    dueAt() {
      const [first, second] = [dueIn(young), dueIn(old)]
      return first === null || second === null ? (first ?? second) : Math.min(first, second)
    },
  }
}
