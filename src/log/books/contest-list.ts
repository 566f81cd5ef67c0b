import type { DatabaseSync } from 'node:sqlite'
import { joinWords } from '../../project/answers/contest-words.ts'
import {
  closingKey,
  type ContestState,
  outcomeOf,
  poolOf,
  prizeTotals,
  unpaidOf,
} from '../../project/fold/contest.ts'
import { assert } from '../../protocol/brand.ts'
import { type ContestId, contestIdOf, type Seq, seqOf } from '../../protocol/seq.ts'
import type { Row } from '../store/codec.ts'
import { amountKey } from './amount-key.ts'

/**
 * Events between updates of the list of contests. Most commits do not write it, and a reader checks fewer than this
 * many events that the list lacks.
 */
export const LIST_EVENTS = 256
/** Most contests that wait in memory to be listed. */
const WAITING_MAX = 10_000

/** Contests as of the last event of a block, by id. */
export type BlockEnd = ReadonlyMap<ContestId, ContestState>

/** Seq up to which the list is written when the log ends with `head`. */
export function listedTo(head: Seq): Seq {
  return seqOf(head - (head % LIST_EVENTS))
}

/**
 * Writer of the list in which contests are searched and sorted. Its rows depend only on the log, not on how commits
 * divide it.
 */
type ContestList = Readonly<{
  /**
   * Takes the contests of a batch that ends with `head`. `ended` has the contests that the batch had changed by its
   * last end of a block; null when no block ended.
   */
  put(changed: ReadonlyMap<ContestId, ContestState>, ended: BlockEnd | null, head: Seq): void
  /** Writes the rows of ended blocks. Must be called before the commit. */
  flush(): void
  /** Reads the contests of the open block again, after a rollback. */
  reload(): void
}>

/** Opens the list. `contestOf` reads a stored contest. */
export function openContestList(
  db: DatabaseSync,
  contestOf: (id: ContestId) => ContestState | undefined,
): ContestList {
  const write = openRows(db)
  const newest = db.prepare('SELECT max(seq) AS head FROM events')
  const touched = db.prepare(CONTESTS_SINCE)
  /** Contests changed in the open block, and contests to be written as of the end of a block. */
  const open = new Map<ContestId, ContestState>()
  const waiting = new Map<ContestId, ContestState>()

  function flush(): void {
    for (const contest of waiting.values()) write(contest)
    waiting.clear()
  }

  function reload(): void {
    open.clear()
    waiting.clear()
    const head = newest.get()?.['head']
    for (const id of contestsIn(touched.all(listedTo(seqOf(typeof head === 'number' ? head : 0))))) {
      const contest = contestOf(id)
      assert(contest !== undefined, 'an event of a contest has its contest')
      open.set(contest.id, contest)
    }
  }

  reload()
  return {
    put(changed, ended, head) {
      if (ended !== null) {
        for (const [id, contest] of open) waiting.set(id, contest)
        for (const [id, contest] of ended) waiting.set(id, contest)
        open.clear()
        if (waiting.size >= WAITING_MAX) flush()
      }
      const from = listedTo(head)
      for (const [id, contest] of changed) if (contest.lastSeq > from) open.set(id, contest)
    },
    flush,
    reload,
  }
}

/** Query for the contests of the events after a seq; null for events without one. */
export const CONTESTS_SINCE = 'SELECT contest FROM events WHERE seq > ?'

/** The contests of these rows, each once. */
export function contestsIn(rows: readonly Row[]): readonly ContestId[] {
  const ids = rows.flatMap(({ contest }) => (typeof contest === 'number' ? [contest] : []))
  return [...new Set(ids)].map(contestIdOf)
}

function openRows(db: DatabaseSync): (contest: ContestState) => void {
  const words = db.prepare('SELECT words FROM contest_list WHERE scheduled_seq = ?')
  const put = db.prepare(
    `INSERT OR REPLACE INTO contest_list
       (scheduled_seq, id, status, outcome, closes_at, pool, not_redeemed, words)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addWord = db.prepare('INSERT INTO contest_words (word, scheduled_seq) VALUES (?, ?)')
  const removeWord = db.prepare('DELETE FROM contest_words WHERE word = ? AND scheduled_seq = ?')
  const split = (joined: string): readonly string[] => joined.split(' ').slice(1)
  return (contest) => {
    const { id, title, status, scheduledSeq: seq } = contest
    const joined = joinWords(title)
    const former = words.get(seq)?.['words'] ?? ''
    if (former !== joined) {
      for (const word of split(String(former))) removeWord.run(word, seq)
      for (const word of split(joined)) addWord.run(word, seq)
    }
    const amounts = [amountKey(poolOf(contest)), amountKey(unpaidOf(prizeTotals(contest)))] as const
    put.run(seq, id, status, outcomeOf(contest), closingKey(contest), ...amounts, joined)
  }
}
