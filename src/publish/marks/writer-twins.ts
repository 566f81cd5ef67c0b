import type { OpenedMark } from './sealed-mark.ts'

/** Two running nodes that share a name or a node key, which each must have alone. */
export type Twins = Readonly<{
  shared: 'name' | 'key'
  /** Names of the earlier and the later one. */
  names: readonly [earlier: string, later: string]
  /** Whether this node is one of them, and the one that started later. */
  isOurs: boolean
}>

/** Names of this node and of its run, and its key. */
export type OwnRun = Readonly<{
  node: string
  run: string
  key: string
  /** Start of this run by the engine's clock; null before that clock is known. */
  sinceMs(): number | null
}>

/** Finds nodes that run at the same time and share a name or a key. */
type WriterTwins = Readonly<{
  /** Compares a mark that was just heard with the runs that are known. */
  note(told: OpenedMark, runs: readonly OpenedMark[]): void
  /** Those that were noted lately. */
  found(): readonly Twins[]
}>

/** Time after which twins are twins no more. */
const FORGET_MS = 20_000
/** Difference of two clocks up to which a mark may be of a run that had ended before the next one began. */
const OVERLAP_MS = 2000

type Run = Pick<OpenedMark['mark'], 'node' | 'run' | 'sinceMs'> & Pick<OpenedMark, 'key'>

export function openWriterTwins(own: OwnRun, clock: Readonly<{ now(): number }>): WriterTwins {
  const twins = new Map<string, Readonly<{ found: Twins; atMs: number }>>()
  return {
    note({ mark, key }, runs) {
      const sinceMs = own.sinceMs()
      const others: readonly Run[] = runs.map((run) => ({ ...run.mark, key: run.key }))
      for (const other of sinceMs === null ? others : [{ ...own, sinceMs }, ...others]) {
        if (other.run === mark.run || (other.key !== key && other.node !== mark.node)) continue
        const isLater =
          mark.sinceMs > other.sinceMs || (mark.sinceMs === other.sinceMs && mark.run > other.run)
        // This node is running now. Another one may have ended before this mark.
        const overlaps = isLater ? other.run === own.run : mark.atMs > other.sinceMs + OVERLAP_MS
        if (!overlaps) continue
        const [earlier, later] = isLater ? [other, mark] : [mark, other]
        const shared = other.key === key ? 'key' : 'name'
        const found = { shared, names: [earlier.node, later.node], isOurs: later.run === own.run } as const
        twins.set(`${shared} ${later.node}`, { found, atMs: clock.now() })
      }
    },
    found: () =>
      [...twins.values()].flatMap(({ found, atMs }) => (clock.now() - atMs < FORGET_MS ? [found] : [])),
  }
}
