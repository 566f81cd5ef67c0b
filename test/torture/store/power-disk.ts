import { hash } from 'node:crypto'
import { dirname } from 'node:path'
import type { Random } from '../../../sim/random.ts'

/** A change of a file that no fsync has made durable yet. `bytes` is null for a truncation to the size `offset`. */
type PendingChange = Readonly<{ offset: number; bytes: Uint8Array | null }>

/** A file whose names may change. */
type DiskFile = {
  /** Content after its last fsync. */
  durable: Uint8Array
  pending: PendingChange[]
}

/** A file, a folder, or nothing, under a name. */
type Named = DiskFile | 'folder' | null

/** Change of one name or, for a rename, of two, which happen together. Durable after an fsync of their folder. */
type PendingName = Readonly<{
  folder: string
  changes: readonly (readonly [path: string, to: Named])[]
}>

/**
 * A disk as the file system promises it: an fsync of a file makes its content and its size durable, not its name. An
 * fsync of a folder makes the names in it durable, not their content.
 */
type PowerDisk = Readonly<{
  /** Applies a recorded call. Returns whether a power cut after it can leave another state than one before it. */
  apply(call: RecordedCall): boolean
  /** Names after the last fsync of their folders. */
  durableNames: ReadonlyMap<string, Named>
  pendingNames: readonly PendingName[]
  /** Names as programs see them. */
  names: ReadonlyMap<string, Named>
}>

/** Shared memory of readers, which a start makes again. */
const isIgnored = (path: string): boolean => path.endsWith('-shm')

/** Calls that change no content and no name. */
const UNSEEN: ReadonlySet<string> = new Set([
  'answer',
  'chmod',
  'fchmod',
  'chown',
  'fchown',
  'utimens',
  'ack',
  'close',
  'open',
])

/** Opens an empty disk, or one with files that are durable from the start. */
export function openPowerDisk(files: ReadonlyMap<string, Uint8Array | 'folder'> = new Map()): PowerDisk {
  const made = [...files].map(
    ([path, content]) => [path, content === 'folder' ? content : { durable: content, pending: [] }] as const,
  )
  const durableNames = new Map<string, Named>([['.', 'folder'], ...made])
  const names = new Map(durableNames)
  const pendingNames: PendingName[] = []

  function fileAt(path: string): DiskFile {
    const found = names.get(path)
    if (found === undefined || found === null || found === 'folder')
      throw new Error(`the trace writes to ${path}, which is no file`)
    return found
  }

  function rename(...changes: readonly (readonly [string, Named])[]): boolean {
    const folders = new Set(changes.map(([path]) => dirname(path)))
    const [folder] = folders
    if (folder === undefined || folders.size > 1)
      throw new Error('a rename from one folder to another has no model')
    pendingNames.push({ folder, changes })
    setNames(names, changes)
    return true
  }

  function change(path: string, ...changes: readonly PendingChange[]): boolean {
    fileAt(path).pending.push(...changes)
    return true
  }

  function sync(path: string): boolean {
    const found = names.get(path)
    if (found === 'folder') return syncFolder(path)
    const file = fileAt(path)
    if (file.pending.length === 0) return false
    file.durable = currentContent(file)
    file.pending = []
    return true
  }

  function syncFolder(folder: string): boolean {
    const before = pendingNames.length
    const kept = pendingNames.filter((one) => one.folder !== folder)
    for (const one of pendingNames) if (one.folder === folder) setNames(durableNames, one.changes)
    pendingNames.splice(0, before, ...kept)
    return kept.length < before
  }

  return {
    durableNames,
    pendingNames,
    names,
    apply({ call, offset, path, target, bytes }) {
      if (UNSEEN.has(call) || isIgnored(path)) return false
      switch (call) {
        case 'create':
          return rename([path, { durable: new Uint8Array(), pending: [] }])
        case 'mkdir':
          return rename([path, 'folder'])
        case 'write':
        case 'pwrite':
          return change(path, { offset, bytes })
        case 'ftruncate':
          return change(path, { offset, bytes: null })
        case 'rename':
          return rename([target, names.get(path) ?? null], [path, null])
        case 'link':
          return rename([target, fileAt(path)])
        case 'unlink':
        case 'rmdir':
          return rename([path, null])
        case 'fsync':
        case 'fdatasync':
          return sync(path)
        default:
          throw new Error(`the trace has a call without a model: ${call}`)
      }
    },
  }
}

/** Gives names to files, folders or nothing. */
function setNames(names: Map<string, Named>, changes: PendingName['changes']): void {
  for (const [path, to] of changes) {
    if (to === null) names.delete(path)
    else names.set(path, to)
  }
}

/** Content of a file as programs see it. */
function currentContent({ durable, pending }: DiskFile): Uint8Array {
  let size = durable.length
  let most = size
  for (const { offset, bytes } of pending) {
    size = bytes === null ? offset : Math.max(size, offset + bytes.length)
    most = Math.max(most, size)
  }
  const content = new Uint8Array(most)
  content.set(durable)
  for (const { offset, bytes } of pending) {
    if (bytes === null) content.fill(0, offset)
    else content.set(bytes, offset)
  }
  return content.subarray(0, size)
}

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
type DrawFile = (changes: number, random: Random) => CutFile

const seen = (count: number): CutFile => ({ seenBy: () => count, sizeSeen: count })
const nothing: DrawFile = () => seen(0)
const everything: DrawFile = (changes) => seen(changes)
/** The first changes, in their order. */
const inOrder: DrawFile = (changes, random) => seen(random.below(changes + 1))

/** Each sector, or each page of memory, at another moment. The size may be durable before the content, or after it. */
const scattered =
  (sectors: number): DrawFile =>
  (changes, random) => {
    const drawn = new Map<number, number>()
    return {
      seenBy(sector) {
        const group = Math.floor(sector / sectors)
        const known = drawn.get(group) ?? random.below(changes + 1)
        drawn.set(group, known)
        return known
      },
      sizeSeen: random.weighted([
        [changes, 3],
        [0, 1],
        [random.below(changes + 1), 1],
      ]),
    }
  }

const anyFile: DrawFile = (changes, random) =>
  random.pick([nothing, everything, inOrder, scattered(1), scattered(PAGE_SECTORS)])(changes, random)

/** Builds the content of a file in a state. */
function contentAfter({ durable, pending }: DiskFile, { seenBy, sizeSeen }: CutFile): Uint8Array {
  const sectorOf = (offset: number): number => Math.floor(offset / SECTOR_BYTES)
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

/** Ways in which a disk loses what is not durable: of the names, and of each file. */
const CUTS: readonly (readonly [cut: readonly [names: DrawNames, file: DrawFile], weight: number])[] = [
  [[allNames, everything], 1],
  [[noNames, nothing], 1],
  // The classic empty file: its name is durable and its content is not.
  [[allNames, nothing], 1],
  [[noNames, everything], 1],
  [[namesInOrder, inOrder], 4],
  [[allNames, anyFile], 4],
  [[namesInOrder, anyFile], 6],
  [[namesReordered, anyFile], 6],
]

/** Draws a state in which a power cut at this moment can leave the disk. */
export function drawCut(disk: PowerDisk, random: Random): CutState {
  const [drawNames, drawFile] = random.weighted(CUTS)
  const names = new Map<string, Named>(disk.durableNames)
  for (const { changes } of drawNames(disk.pendingNames, random)) setNames(names, changes)
  const drawn = new Map<DiskFile, Uint8Array>()
  return stateOf(names, (file) => {
    const { durable, pending } = file
    const content =
      drawn.get(file) ??
      (pending.length === 0 ? durable : contentAfter(file, drawFile(pending.length, random)))
    drawn.set(file, content)
    return content
  })
}

/** State in which a power cut loses all that is not durable. */
export const durableState = (disk: PowerDisk): CutState =>
  stateOf(disk.durableNames, ({ durable }) => durable)

/** The disk as programs see it, and as a process that is killed leaves it. */
export const wholeState = (disk: PowerDisk): CutState => stateOf(disk.names, currentContent)

function stateOf(names: ReadonlyMap<string, Named>, contentOf: (file: DiskFile) => Uint8Array): CutState {
  const state = new Map<string, Uint8Array | 'folder'>()
  for (const [path, named] of [...names].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    // A folder without a name takes its content with it.
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

/** A call that changed a file or a name below the recorded folder, or an answer that was sent meanwhile. */
export type RecordedCall = Readonly<{
  call: string
  /** Byte at which a write begins, or size of a truncated file. */
  offset: number
  /** Path below the folder; `.` for the folder itself. */
  path: string
  /** New name of a rename or a link; empty for other calls. */
  target: string
  /** Bytes of a write or an answer. */
  bytes: Uint8Array
}>

const LINE_END = 10

/** Reads a trace: lines "CALL OFFSET LENGTH PATH [TARGET]", each with the LENGTH bytes of a write or an answer after it. */
export function recordedCalls(trace: Uint8Array): readonly RecordedCall[] {
  const calls: RecordedCall[] = []
  const decoder = new TextDecoder()
  for (let at = 0; at < trace.length;) {
    const end = trace.indexOf(LINE_END, at)
    const line = decoder.decode(trace.subarray(at, end))
    const [call = '', offset, length, path = '', target = ''] = line.split(' ')
    if (end < 0 || path === '') throw new Error(`the trace has no call at byte ${at}: ${line.slice(0, 80)}`)
    at = end + 1 + Number(length)
    // A pipe or socket, whose descriptor was that of a file before, has no offset.
    if (Number(offset) < 0) continue
    calls.push({ call, offset: Number(offset), path, target, bytes: trace.subarray(end + 1, at) })
  }
  return calls
}
