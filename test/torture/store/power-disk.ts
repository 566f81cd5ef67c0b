import { dirname } from 'node:path'
import type { RecordedCall } from './recorded-calls.ts'

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
