import { hash } from 'node:crypto'
import { dirname } from 'node:path'
import type { Random } from '../../../sim/random.ts'
import { type DiskFile, type Named, type PendingName, type PowerDisk, setNames } from './power-disk.ts'

/** Content of a disk after a power cut, by path, in the order in which it can be written. */
export type CutState = ReadonlyMap<string, Uint8Array | 'folder'>

/** Bytes that a disk writes whole or not at all. */
const SECTOR_BYTES = 512
/** Sectors of a page of memory, which a file system writes together as a rule. */
const PAGE_SECTORS = 8

/**
 * State of a file after a cut: for each sector how many of the pending changes it has seen, and for its size how many.
 * A disk writes a sector as it is in memory at some moment, so a sector has all changes up to one of them.
 */
type CutFile = Readonly<{ seenBy(sector: number): number; sizeSeen: number }>

type DrawFile = (file: DiskFile, random: Random) => CutFile

const seen = (count: number): CutFile => ({ seenBy: () => count, sizeSeen: count })

const nothing: DrawFile = () => seen(0)
const everything: DrawFile = ({ pending }) => seen(pending.length)
/** The first changes, in their order. */
const inOrder: DrawFile = ({ pending }, random) => seen(random.below(pending.length + 1))

/** The first changes, and a torn one after them. */
const torn: DrawFile = ({ pending }, random) => {
  const whole = random.below(pending.length)
  return { ...drawnBySector(() => whole + random.below(2)), sizeSeen: whole + random.below(2) }
}

/** Each sector, or each page of memory, at another moment. */
const scattered =
  (sectors: number): DrawFile =>
  ({ pending }, random) => ({
    ...drawnBySector(() => random.below(pending.length + 1), sectors),
    sizeSeen: drawSize(pending.length, random),
  })

/** Each change kept or lost, in any order. */
const reordered: DrawFile = ({ pending }, random) => {
  const share = random.pick([0.05, 0.5, 0.95])
  const kept = new Map<number, number>()
  for (const [index, { offset, bytes }] of pending.entries()) {
    if (bytes === null || !random.chance(share)) continue
    for (let sector = sectorOf(offset); sector <= sectorOf(offset + bytes.length - 1); sector += 1)
      kept.set(sector, index + 1)
  }
  return { seenBy: (sector) => kept.get(sector) ?? 0, sizeSeen: drawSize(pending.length, random) }
}

/** As a file system that writes new blocks before the size which covers them: only overwritten blocks are scattered. */
const ordered: DrawFile = (file, random) => {
  const whole = random.below(file.pending.length + 1)
  const over = scattered(PAGE_SECTORS)(file, random)
  const first = sectorOf(file.durable.length + SECTOR_BYTES - 1)
  return { seenBy: (sector) => (sector < first ? over.seenBy(sector) : whole), sizeSeen: whole }
}

const sectorOf = (offset: number): number => Math.floor(offset / SECTOR_BYTES)

/** The size may be durable before the content, or after it. */
function drawSize(changes: number, random: Random): number {
  return random.weighted([
    [changes, 3],
    [0, 1],
    [random.below(changes + 1), 1],
  ])
}

function drawnBySector(draw: () => number, together = 1): Pick<CutFile, 'seenBy'> {
  const drawn = new Map<number, number>()
  return {
    seenBy(sector) {
      const group = Math.floor(sector / together)
      const known = drawn.get(group) ?? draw()
      drawn.set(group, known)
      return known
    },
  }
}

/** Builds the content of a file in a state. */
function contentAfter({ durable, pending }: DiskFile, { seenBy, sizeSeen }: CutFile): Uint8Array {
  const most = pending.reduce(
    (size, { offset, bytes }) => Math.max(size, offset + (bytes?.length ?? 0)),
    durable.length,
  )
  const content = new Uint8Array(most)
  content.set(durable)
  let size = durable.length
  // Blocks that a durable truncation has freed never show their former content again.
  const freed: (readonly [from: number, seen: number])[] = []
  for (const [index, { offset, bytes }] of pending.slice(0, sizeSeen).entries()) {
    if (bytes === null) freed.push([sectorOf(offset), index + 1])
    size = bytes === null ? offset : Math.max(size, offset + bytes.length)
  }
  const floorOf = (sector: number): number =>
    freed.reduce((floor, [from, count]) => (sector >= from ? count : floor), 0)
  for (const [index, { offset, bytes }] of pending.entries()) {
    const end = bytes === null ? most : offset + bytes.length
    for (let from = offset; from < end;) {
      const sector = sectorOf(from)
      const to = Math.min(end, (sector + 1) * SECTOR_BYTES)
      if (index < Math.max(seenBy(sector), floorOf(sector))) {
        if (bytes === null) content.fill(0, from, to)
        else content.set(bytes.subarray(from - offset, to - offset), from)
      }
      from = to
    }
  }
  return size <= most ? content.subarray(0, size) : content
}

/** Names after a cut: a rename happens whole or not at all, and later changes of a name need the earlier ones. */
type DrawNames = (pending: readonly PendingName[], random: Random) => readonly PendingName[]

const noNames: DrawNames = () => []
const allNames: DrawNames = (pending) => pending
const namesInOrder: DrawNames = (pending, random) => pending.slice(0, random.below(pending.length + 1))

const namesReordered: DrawNames = (pending, random) => {
  const lost = new Set<string>()
  return pending.filter(({ changes }) => {
    const isKept = random.chance(0.5) && !changes.some(([path]) => lost.has(path))
    if (!isKept) for (const [path] of changes) lost.add(path)
    return isKept
  })
}

/** A way in which a disk loses what is not durable: for names, and for each file. */
type Cut = Readonly<{ names: DrawNames; file: DrawFile }>

const HOSTILE: DrawFile = (file, random) =>
  random.pick([nothing, everything, inOrder, torn, scattered(1), scattered(PAGE_SECTORS), reordered])(
    file,
    random,
  )

const CUTS: readonly (readonly [cut: Cut, weight: number])[] = [
  [{ names: allNames, file: everything }, 1],
  [{ names: noNames, file: nothing }, 1],
  // The classic empty file: its name is durable and its content is not.
  [{ names: allNames, file: nothing }, 1],
  [{ names: noNames, file: everything }, 1],
  [{ names: namesInOrder, file: inOrder }, 2],
  [{ names: namesInOrder, file: ordered }, 4],
  [{ names: allNames, file: HOSTILE }, 4],
  [{ names: namesInOrder, file: HOSTILE }, 4],
  [{ names: namesReordered, file: HOSTILE }, 6],
]

/** Draws a state in which a power cut at this moment can leave the disk. */
export function drawCut(disk: PowerDisk, random: Random): CutState {
  const cut = random.weighted(CUTS)
  const names = new Map<string, Named>(disk.durableNames)
  for (const { changes } of cut.names(disk.pendingNames, random)) setNames(names, changes)
  const drawn = new Map<DiskFile, Uint8Array>()
  const contentOf = (file: DiskFile): Uint8Array => {
    const known =
      drawn.get(file) ??
      (file.pending.length === 0 ? file.durable : contentAfter(file, cut.file(file, random)))
    drawn.set(file, known)
    return known
  }
  return stateOf(names, contentOf)
}

/** State in which a power cut loses all that is not durable. */
export function durableState(disk: PowerDisk): CutState {
  return stateOf(disk.durableNames, ({ durable }) => durable)
}

/** The disk as programs see it. */
export function wholeState(disk: PowerDisk, contentOf: (file: DiskFile) => Uint8Array): CutState {
  return stateOf(disk.names, contentOf)
}

function stateOf(names: ReadonlyMap<string, Named>, contentOf: (file: DiskFile) => Uint8Array): CutState {
  const state = new Map<string, Uint8Array | 'folder'>()
  for (const [path, named] of [...names].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    // What was in a folder without a name is gone with it.
    if (named === null || (path !== '.' && state.get(dirname(path)) !== 'folder')) continue
    state.set(path, named === 'folder' ? named : contentOf(named))
  }
  return state
}

/** Digest of a state, by which equal states are found. */
export function digestOfState(state: CutState): string {
  const parts = [...state].map(
    ([path, content]) => `${path} ${content === 'folder' ? content : hash('sha1', content)}`,
  )
  return hash('sha1', parts.join('\n'))
}
