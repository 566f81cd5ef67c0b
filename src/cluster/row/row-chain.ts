import { HASHER } from '../../log/tree/stored-tree.ts'
import { sha256 } from '../../log/tree/signer.ts'
import { tryRead } from '../../log/tree/signed-trees.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { appendLeaf, emptyFrontier, type Frontier, rootOf } from '../../tlog/frontier.ts'
import { type Hash, HASH_BYTES, isSame } from '../../tlog/hash.ts'
import { type BeginRow, type CommitRow, type LogRow, refusalOfRow, ROW_VERSION } from './log-row.ts'
import { decodeRow, digestOfRow, openRowVerifier, type RowVerifier } from './row-frame.ts'
import { vkeysSigning } from './row-keys.ts'
import { parseVkey } from '../../tlog/note.ts'

/** End of the chain of the rows that were added. */
export type RowChainEnd = Readonly<{
  /** Id of the log; empty before the first row. */
  logId: string
  /** First and newest place; 0 before the first row. */
  first: number
  place: number
  /** Whether the newest row takes the log off the table. */
  isEnded: boolean
  /** Seq of the newest event. */
  head: number
  /** Keys that sign the log; null when they are unknown and no signature was verified. */
  vkeys: readonly string[] | null
}>

/** Comparison of rows with each other, without a store: their chain, their signatures and their roots. */
export type RowChain = Readonly<{
  /**
   * Adds the row at a place. Returns its content, or the reason why it does not continue the chain. After such a row
   * none can be added.
   */
  add(place: number, bytes: Uint8Array): Readonly<{ fault: string }> | Readonly<{ fault: null; row: LogRow }>
  end(): RowChainEnd
}>

/** Knowledge of a log whose oldest rows were deleted. */
type RowChainStart = Readonly<{
  /** Tree with this many events; null when it is unknown. Then the roots are not checked. */
  treeAt(size: number): Frontier | null
  /** Identity of the log and its keys, or later ones; null when they are unknown. Then no signature is verified. */
  known: Pick<BeginRow, 'identity' | 'keys'> | null
}>

/** State of a chain. Null stands for facts that only deleted rows had. */
type ChainState = {
  logId: string
  origin: string | null
  first: number
  place: number
  prev: Hash | null
  isEnded: boolean
  head: number
  root: Hash | null
  tree: Frontier | null
  vkeys: readonly string[] | null
  verifier: RowVerifier | null
}

const ZEROS: Hash = new Uint8Array(HASH_BYTES)

/** Opens a chain from the first row of a table: at place 1, or later when older rows were deleted. */
export function openRowChain(start: RowChainStart): RowChain {
  const state: ChainState = {
    logId: '',
    origin: null,
    first: 0,
    place: 0,
    prev: ZEROS,
    isEnded: false,
    head: 0,
    root: null,
    tree: emptyFrontier(),
    vkeys: null,
    verifier: null,
  }
  return {
    add(place, bytes) {
      const decoded = decodeRow(bytes)
      if (!decoded.ok) return { fault: decoded.reason }
      const { row } = decoded.signed
      if (state.first === 0) begin(state, place, row, start)
      const { logId, prev } = state
      const want = { v: ROW_VERSION, logId, place: state.place + 1, prev: prev ?? row.prev } as const
      const fault =
        (state.isEnded ? 'it follows the row that took the log off the table' : null) ??
        refusalOfRow(row, place, want) ??
        state.verifier?.refusalOf(decoded.signed) ??
        faultOfContent(state, row)
      if (fault !== null) return { fault }
      Object.assign(state, { place, prev: digestOfRow(bytes), isEnded: row.is === 'end' })
      return { fault: null, row }
    },
    end: () => {
      const { logId, first, place, isEnded, head, vkeys } = state
      return { logId, first, place, isEnded, head, vkeys }
    },
  }
}

/** Begins at the first row: at the start of the log, or inside it when older rows were deleted. */
function begin(state: ChainState, place: number, row: LogRow, { treeAt, known }: RowChainStart): void {
  Object.assign(state, { logId: row.is === 'begin' ? row.identity.id : row.logId, first: place })
  if (row.is === 'begin') {
    state.origin = row.identity.origin
    changeKeys(state, vkeysSigning(state.origin, row.keys))
    return
  }
  const head = row.is === 'commit' ? row.first - 1 : row.head
  const tree = treeAt(head)
  Object.assign(state, { place: place - 1, prev: null, head, tree, root: null })
  if (known === null) return
  state.origin = known.identity.origin
  changeKeys(state, vkeysAt(state.origin, known.keys, head))
}

/** Vkeys that may sign a row at a size. At a change of keys, the former and the new ones may. */
function vkeysAt(origin: string, keys: readonly ListedKey[], size: number): readonly string[] {
  const atSize = keys.filter(
    ({ fromSize, toSize }) => fromSize <= size && (toSize === null || size <= toSize),
  )
  return vkeysSigning(
    origin,
    atSize.map((key) => ({ ...key, toSize: null })),
  )
}

function changeKeys(state: ChainState, vkeys: readonly string[]): void {
  state.vkeys = vkeys
  state.verifier = openRowVerifier(vkeys.flatMap((vkey) => parseVkey(sha256, vkey) ?? []))
}

/** Reason why the content of a row does not continue the log; null when it does. Then the content is recorded. */
function faultOfContent(state: ChainState, row: LogRow): string | null {
  switch (row.is) {
    case 'begin':
      return null
    case 'commit':
      return faultOfCommit(state, row)
    case 'keys':
      if (row.head !== state.head) return `it changes the keys at seq ${row.head} instead of ${state.head}`
      if (state.origin !== null) changeKeys(state, vkeysSigning(state.origin, row.keys))
      return null
    case 'end': {
      const root = rootIn(state)
      if (row.head === state.head && (root === null || isSame(row.root, root))) return null
      return `it names another log than the one at seq ${state.head}`
    }
  }
}

function faultOfCommit(state: ChainState, { first, root, lines, details }: CommitRow): string | null {
  if (first !== state.head + 1) return `it begins with seq ${first} after seq ${state.head}`
  const { tree } = state
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith(`{"seq":${first + index},`)) return `seq ${first + index} is no event`
    if (tree === null) continue
    const leaf = tryRead(() => HASHER.leaf(formatEntry(line, details[index] ?? null)))
    if (leaf === undefined) return `seq ${first + index} is longer than an event can be`
    appendLeaf(HASHER, tree, leaf)
  }
  state.head += lines.length
  state.root = root
  return tree === null || isSame(rootOf(HASHER, tree), root) ? null : 'its root is not that of its events'
}

/** Root of the newest tree; null when neither its events nor an earlier commit has it. */
function rootIn({ tree, root }: ChainState): Hash | null {
  return tree === null ? root : rootOf(HASHER, tree)
}
