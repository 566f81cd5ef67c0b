import type { DatabaseSync } from 'node:sqlite'
import { formatLoyalty, parseLoyalty } from '../../log/store/codec.ts'
import type { LoyaltyState } from '../../project/fold/loyalty.ts'
import { emptyTally, FIGURES, KIND_FIGURES, type Tally } from '../../project/fold/tally.ts'
import { recordOf } from '../../protocol/brand.ts'
import { boundOf } from '../../protocol/moment.ts'
import { emptyFrontier, type Frontier } from '../../tlog/frontier.ts'
import { formatBase64, parseBase64 } from '../../tlog/note.ts'
import type { OpenBuckets } from './book-periods.ts'

/** Sums from which the next run goes on, as JSON in the table `book_state`. */
type BookState = Readonly<{
  frontier: Frontier
  tally: Tally
  loyalty: readonly LoyaltyState[]
  open: OpenBuckets | null
}>

/** The state of the last commit; that of an empty log in a new book. */
export function readState(db: DatabaseSync): BookState {
  const rows = db.prepare('SELECT name, value FROM book_state').all()
  const stored = new Map(rows.map(({ name, value }) => [String(name), String(value)]))
  const of = (name: keyof BookState): string => stored.get(name) ?? 'null'
  const open: StoredBuckets | null = JSON.parse(of('open'))
  return {
    frontier: parseFrontier(of('frontier')),
    tally: parseTally(JSON.parse(of('tally'))),
    loyalty: JSON.parse(stored.get('loyalty') ?? '[]').map(parseLoyalty),
    open:
      open &&
      recordOf(['day', 'month'], (bucket) => ({
        startMs: boundOf(open[bucket].startMs),
        before: parseTally(open[bucket].before),
      })),
  }
}

/** Opens the writer of the state. */
export function openStateRows(db: DatabaseSync): (state: BookState) => void {
  const put = db.prepare('INSERT OR REPLACE INTO book_state (name, value) VALUES (?, ?)')
  return (state) => {
    for (const [name, value] of Object.entries(formatState(state))) put.run(name, value)
  }
}

function formatState({
  frontier,
  tally,
  loyalty,
  open,
}: BookState): Readonly<Record<keyof BookState, string>> {
  const stored =
    open &&
    recordOf(['day', 'month'], (bucket) => ({ ...open[bucket], before: storedTally(open[bucket].before) }))
  return {
    frontier: JSON.stringify({ size: frontier.size, roots: frontier.roots.map(formatBase64) }),
    tally: JSON.stringify(storedTally(tally)),
    loyalty: JSON.stringify(loyalty.map(formatLoyalty)),
    open: JSON.stringify(stored),
  }
}

function parseFrontier(json: string): Frontier {
  const stored: Readonly<{ size: number; roots: readonly string[] }> | null = JSON.parse(json)
  if (stored === null) return emptyFrontier()
  return { size: stored.size, roots: stored.roots.map((root) => parseBase64(root) ?? new Uint8Array(0)) }
}

/** Tally in JSON, with sums as decimal strings. */
type StoredTally = Readonly<{
  figures: Readonly<Record<string, string>>
  byKind: Readonly<Record<string, readonly (readonly [kind: string, sum: string])[]>>
}>
type StoredBuckets = Readonly<Record<keyof OpenBuckets, Readonly<{ startMs: number; before: StoredTally }>>>

function storedTally({ figures, byKind }: Tally): StoredTally {
  return {
    figures: recordOf(FIGURES, (figure) => String(figures[figure])),
    byKind: recordOf(KIND_FIGURES, (figure) =>
      [...byKind[figure]].map(([kind, sum]) => [kind, String(sum)] as const),
    ),
  }
}

function parseTally(stored: StoredTally | null): Tally {
  if (stored === null) return emptyTally()
  return {
    figures: recordOf(FIGURES, (figure) => BigInt(stored.figures[figure] ?? '0')),
    byKind: recordOf(
      KIND_FIGURES,
      (figure) => new Map((stored.byKind[figure] ?? []).map(([kind, sum]) => [kind, BigInt(sum)])),
    ),
  }
}
