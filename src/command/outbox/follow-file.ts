import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { lineFault } from '../operator/draft-lines.ts'
import { pause } from '../terminal/pause.ts'
import { shellQuoted } from '../terminal/output.ts'
import type { World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'
import type { DraftRow } from './draft-sender.ts'
import type { FilePlace } from './follow-cursor.ts'
import { fileIdentityOf, markOf, openAtPlace } from './follow-cursor.ts'
import { refuseSkipped } from './follow-skipped.ts'

/** Time between two looks at a file that has no new lines. */
const LOOK_MS = 250
/** Time for which a renamed file must be silent before the next one is read: its writer may not have noticed yet. */
const SILENCE_MS = 3_000
const CHUNK_BYTES = 1024 * 1024
const LINE_FEED = 10

/** A line of a file; `place()` is the place after it. */
type FollowedLine = DraftRow & Readonly<{ place(): FilePlace }>

/**
 * An open file, and the place after its last finished line. The bytes of an unfinished line are not kept: a writer that
 * starts again after a crash may cut them away and write another line in their place.
 */
type Tail = { file: number; inode: string; born: string; offset: number; line: number }

type FollowedFile = Readonly<{
  path: string
  /** Place at which to begin; null for the start of the file. */
  from: FilePlace | null
  /** The command's own file, which may have a similar name. */
  cursor: string | null
  /** Called with the place at which a new file begins. All lines of the one before it are in the log. */
  onNext(place: FilePlace): void
}>

/**
 * Yields the lines of a file, as `tail -F` reads it: it waits for new lines, follows the name to a new file after the old
 * one has ended, and begins again when the file is cut. The lines that it yielded are in the log when it is asked for more.
 * Ends at a stop. Throws when a file between two others may have been skipped.
 */
export async function* followFile(
  { path, from, cursor, onNext }: FollowedFile,
  world: World,
): AsyncGenerator<readonly FollowedLine[], void, undefined> {
  const { stop } = world
  let tail = from === null ? null : tailOf(openAtPlace(path, from))
  let isAwaited = false
  let silentMs = 0
  try {
    while (!stop.aborted) {
      tail ??= openTail(path)
      if (tail === null) {
        if (!isAwaited) tell(world, `${shellQuoted(path)} does not exist yet; waiting for it`)
        isAwaited = true
      } else {
        const isEnded = silentMs >= SILENCE_MS && isReplaced(path, tail)
        const lines = readLines(tail, isEnded)
        if (lines.length > 0) {
          silentMs = 0
          yield lines
          continue
        }
        if (fstatSync(tail.file).size < tail.offset) {
          tell(world, `${shellQuoted(path)} was cut; reading it from its beginning`)
          Object.assign(tail, { offset: 0, line: 0 })
          continue
        }
        const next = isEnded ? openTail(path) : null
        if (next !== null) {
          const files = { path, old: tail.file, present: next.file, cursor, now: world.now() }
          let isClear = false
          try {
            isClear = refuseSkipped(files)
          } finally {
            if (!isClear) closeSync(next.file)
          }
          if (isClear) {
            closeSync(tail.file)
            tail = next
            // The file before it may be removed now.
            onNext(placeAfter(tail))
            silentMs = 0
            continue
          }
        }
      }
      silentMs += LOOK_MS
      await pause(LOOK_MS, stop)
    }
  } finally {
    if (tail !== null) closeSync(tail.file)
  }
}

function openTail(path: string): Tail | null {
  try {
    return tailOf({ file: openSync(path, 'r'), offset: 0, line: 0 })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function tailOf({ file, offset, line }: Readonly<{ file: number; offset: number; line: number }>): Tail {
  return { file, ...fileIdentityOf(fstatSync(file, { bigint: true })), offset, line }
}

/** The place after the last finished line. */
function placeAfter({ file, inode, born, offset, line }: Tail): FilePlace {
  return { inode, born, offset, line, mark: markOf(file, offset) }
}

/** Whether the name belongs to another file now. A name that is gone for a moment will belong to the next file. */
function isReplaced(path: string, { inode }: Tail): boolean {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found !== undefined && fileIdentityOf(found).inode !== inode
}

/** Finished lines that follow; empty when there are none yet. The last line of an ended file needs no line break. */
function readLines(tail: Tail, isEnded: boolean): readonly FollowedLine[] {
  const lines: FollowedLine[] = []
  const chunk = Buffer.alloc(CHUNK_BYTES)
  while (lines.length === 0) {
    const bytes = chunk.subarray(0, readSync(tail.file, chunk, 0, CHUNK_BYTES, tail.offset))
    if (bytes.length === 0) return []
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      const line = bytes.subarray(start, end)
      // The lines before a fault are published first. The next call begins with the fault, and throws.
      if (lines.length > 0 && lineFault(line) !== null) return lines
      lines.push(...lineOf(tail, line, end + 1 - start))
      start = end + 1
    }
    if (start > 0) continue
    const isWhole = isEnded || bytes.length > DRAFT_LINE_BYTES_MAX
    return isWhole ? lineOf(tail, bytes, bytes.length) : []
  }
  return lines
}

/** The line, unless it is blank, after moving the tail past it. Throws when it cannot be a draft. */
function lineOf(tail: Tail, bytes: Buffer, length: number): readonly FollowedLine[] {
  const fault = lineFault(bytes)
  if (fault !== null) throw new CommandError(1, `line ${tail.line + 1} ${fault}`)
  tail.offset += length
  tail.line += 1
  const text = bytes.toString().trim()
  const after = { ...tail }
  return text === '' ? [] : [{ name: `line ${after.line}`, line: text, place: () => placeAfter(after) }]
}
