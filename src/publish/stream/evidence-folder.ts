import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderDurably, renameDurably } from '../../log/store/durable-rename.ts'
import type { ForkEvidence } from '../replica/tail-check.ts'

/** Folder of a data directory with the messages of both branches of a fork. */
export const EVIDENCE_FOLDER = 'evidence'

/** Branches of a fork: that of the node, and that of the engine. */
export type BranchName = (typeof BRANCHES)[number]
export const BRANCHES = ['ours', 'engine'] as const

/** Bytes of the length before each message. */
const LENGTH_BYTES = 4

/**
 * Opens the evidence of a data directory, for forks of one stream. Each branch is one file: `stream-1-ours` has messages of
 * this node, and `stream-1-engine` those of the engine, each after its length (4 bytes, big endian). The folder is made
 * when there is some.
 */
export function openEvidence(dataDirectory: string, stream: number): ForkEvidence {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  return {
    keep(branches) {
      makeFolderDurably(folder)
      const differ = !areSame(branches.ours[0]?.bytes, branches.engine[0]?.bytes)
      for (const branch of BRANCHES) {
        const path = branchPath(folder, stream, branch)
        const messages = branches[branch].map(({ bytes }) => bytes)
        const kept = readBranch(path)
        const isKept = areSame(kept[0], messages[0]) && kept.length >= messages.length
        if (kept.length === 0 || (differ && !isKept)) writeBranch(path, messages)
      }
    },
  }
}

/** The kept messages of both branches of a fork of this stream, in order; null without evidence. */
export function readEvidence(
  dataDirectory: string,
  stream: number,
): Readonly<Record<BranchName, readonly Uint8Array[]>> | null {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  const ours = readBranch(branchPath(folder, stream, 'ours'))
  const engine = readBranch(branchPath(folder, stream, 'engine'))
  return ours.length + engine.length === 0 ? null : { ours, engine }
}

/** Streams whose forks have evidence, in order. */
export function forkedStreams(dataDirectory: string): readonly number[] {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const found = names.flatMap((name) => /^stream-([1-9]\d*)-(?:ours|engine)$/.exec(name)?.[1] ?? [])
  return [...new Set(found.map(Number))].toSorted((one, other) => one - other)
}

function branchPath(folder: string, stream: number, branch: BranchName): string {
  return join(folder, `stream-${stream}-${branch}`)
}

const areSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one, other) === 0

/** Messages in a file: none without a file. What was cut off or added at its end is left out. */
function readBranch(path: string): readonly Uint8Array[] {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const messages: Uint8Array[] = []
  for (let at = 0; at + LENGTH_BYTES <= bytes.length;) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at)
    if (end > bytes.length) break
    messages.push(bytes.subarray(at + LENGTH_BYTES, end))
    at = end
  }
  return messages
}

/** Writes a file whole or not at all. */
function writeBranch(path: string, messages: readonly Uint8Array[]): void {
  const part = `${path}.part`
  writeFileSync(
    part,
    Buffer.concat(
      messages.flatMap((bytes) => {
        const length = Buffer.alloc(LENGTH_BYTES)
        length.writeUInt32BE(bytes.length)
        return [length, bytes]
      }),
    ),
    { mode: 0o600 },
  )
  renameDurably(part, path)
}
