import type { BigIntStats } from 'node:fs'
import { fstatSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { Ms } from '../../protocol/moment.ts'
import { shellQuoted } from '../terminal/output.ts'
import { CommandError } from '../terminal/world.ts'

/** Characters of a number or a date that a rotation puts before the extension of a name. */
const ROTATION = /^[-._][-._\dTZ]*$/
/** Character that ends a name: `drafts2` is no older name of `drafts`. */
const NAME_END = /^[^\p{L}\d]/u

/** Time since its last write after which a file is no compressed copy in the making, which gets its time at its end. */
const COPY_MS = 10_000

type SkippedSettings = Readonly<{
  /** Path that is followed. */
  path: string
  /** The open file that had the name, and the one that has it now. */
  old: number
  present: number
  cursor: string | null
  now: Ms
}>

/**
 * Refuses the step from an open file to the one that has its name now, when another file may have had the name in
 * between: its lines would never be read. `cursor` is the command's own file, which may have a similar name. False when
 * such a file was written so shortly ago that it may be a copy.
 */
export function refuseSkipped({ path, old, present, cursor, now }: SkippedSettings): boolean {
  const read = [old, present].map((file) => fstatSync(file, { bigint: true }))
  const skipped = filesAfter(path, read, cursor)
  const newest = skipped.at(-1)
  if (newest === undefined) return true
  const age = now - Number(newest.mtimeNs / 1_000_000n)
  if (age >= 0 && age < COPY_MS) return false
  const names = skipped.map(({ name }) => shellQuoted(name)).join(', ')
  throw new CommandError(
    1,
    `${shellQuoted(path)} was replaced more than once, and these files may have lines that are not published: ${names}. Publish each whole, in this order, then remove the cursor file and start again`,
  )
}

type RotatedFile = Readonly<{ name: string; mtimeNs: bigint }>

/**
 * Files with a name of a rotation that were written later than the first of the read files, in the order of their last
 * write. A file keeps its time of writing when it is renamed, and its compressed copy gets that time too.
 */
function filesAfter(
  path: string,
  read: readonly BigIntStats[],
  cursor: string | null,
): readonly RotatedFile[] {
  const folder = dirname(path)
  const own = cursor === null ? [] : [resolve(cursor), resolve(`${cursor}.next`)]
  const found: RotatedFile[] = []
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!isRotated(name, basename(path)) || own.includes(resolve(file))) continue
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (stats?.isFile() !== true || stats.size === 0n || read.some(({ ino }) => ino === stats.ino)) continue
    if (stats.mtimeNs > (read[0]?.mtimeNs ?? 0n)) found.push({ name: file, mtimeNs: stats.mtimeNs })
  }
  return found.toSorted((a, b) => Number(a.mtimeNs - b.mtimeNs))
}

/** Whether a name may be an older one of `drafts.jsonl`, such as `drafts.jsonl.1` or `drafts-2026-11-27.jsonl`. */
function isRotated(name: string, base: string): boolean {
  if (name.startsWith(base)) return NAME_END.test(name.slice(base.length))
  const extension = extname(base)
  const stem = base.slice(0, base.length - extension.length)
  const ends = name.startsWith(stem) && name.endsWith(extension)
  return ends && ROTATION.test(name.slice(stem.length, name.length - extension.length))
}
