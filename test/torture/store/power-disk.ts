import { dirname } from 'node:path'

/** A change of a file that no fsync has made durable yet. `bytes` is null for a truncation to the size `offset`. */
type PendingChange = Readonly<{ offset: number; bytes: Uint8Array | null }>

/** A file whose names may change. */
export type DiskFile = {
  /** Content after its last fsync. */
  durable: Uint8Array
  pending: PendingChange[]
}

/** A file, a folder, or nothing, under a name. */
export type Named = DiskFile | 'folder' | null

/** Change of one name or, for a rename, of two, which happen together. Durable after an fsync of their folder. */
export type PendingName = Readonly<{
  folder: string
  changes: readonly (readonly [path: string, to: Named])[]
}>

/**
 * A disk as the file system promises it: an fsync of a file makes its content and its size durable, not its name. An
 * fsync of a folder makes the names in it durable, not their content.
 */
export type PowerDisk = Readonly<{
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
export function setNames(names: Map<string, Named>, changes: PendingName['changes']): void {
  for (const [path, to] of changes) {
    if (to === null) names.delete(path)
    else names.set(path, to)
  }
}

/** Content of a file as programs see it. */
export function currentContent({ durable, pending }: DiskFile): Uint8Array {
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
