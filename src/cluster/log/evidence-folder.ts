import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderDurably, renameDurably } from '../../log/store/durable-rename.ts'
import { decodeRow } from '../row/row-frame.ts'
import type { Branches, ClusterNodeSettings } from '../node/cluster-node.ts'

/** Folder of a data directory with the rows of both branches of a fork. */
const EVIDENCE_FOLDER = 'evidence'

const BRANCHES = ['ours', 'table'] as const

/** Bytes of the length before each row. */
const LENGTH_BYTES = 4

/** Rows of both branches of a fork as bytes, in order. */
export type KeptBranches = Readonly<Record<keyof Branches, readonly Uint8Array[]>>

/**
 * Opens the evidence of a data directory, for forks of the log with this id. Each branch is one file: `ID-ours` has
 * rows of this node, and `ID-table` those of the table, each after its length (4 bytes, big endian). The folder is
 * created with the first evidence.
 */
export function openEvidence(dataDirectory: string, logId: string): ClusterNodeSettings['evidence'] {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  return {
    keep(branches) {
      makeFolderDurably(folder)
      const differ = !areSame(branches.ours[0]?.bytes, branches.table[0]?.bytes)
      for (const branch of BRANCHES) {
        const path = join(folder, `${logId}-${branch}`)
        const rows = branches[branch].map(({ bytes }) => bytes)
        const kept = readBranch(path)
        const isKept = areSame(kept[0], rows[0]) ? kept.length >= rows.length : begins(kept) < begins(rows)
        if (kept.length === 0 || (differ && !isKept)) writeBranch(path, rows)
      }
    },
  }
}

/** Kept rows of both branches of a fork of this log; none without evidence. */
export function readEvidence(dataDirectory: string, logId: string): KeptBranches {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  return {
    ours: readBranch(join(folder, `${logId}-ours`)),
    table: readBranch(join(folder, `${logId}-table`)),
  }
}

/** Ids of the logs whose forks have evidence. */
export function forkedLogs(dataDirectory: string): readonly string[] {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const found = names.flatMap((name) => /^([0-9a-f]{32})-(?:ours|table)$/.exec(name)?.[1] ?? [])
  return [...new Set(found)].toSorted()
}

/** Place of the first row of a branch. It is a later one if older rows of the table were deleted. */
function begins([first]: readonly Uint8Array[]): number {
  const decoded = first === undefined ? null : decodeRow(first)
  return decoded?.ok === true ? decoded.signed.row.place : 0
}

const areSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one, other) === 0

/** Rows in a file; none without a file. Ignores an incomplete or foreign end. */
function readBranch(path: string): readonly Uint8Array[] {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const rows: Uint8Array[] = []
  for (let at = 0; at + LENGTH_BYTES <= bytes.length;) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at)
    if (end > bytes.length) break
    rows.push(bytes.subarray(at + LENGTH_BYTES, end))
    at = end
  }
  return rows
}

/** Writes a file whole or not at all. */
function writeBranch(path: string, rows: readonly Uint8Array[]): void {
  const part = `${path}.part`
  const pieces = rows.flatMap((bytes) => {
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  writeFileSync(part, Buffer.concat(pieces), { mode: 0o600 })
  renameDurably(part, path)
}
