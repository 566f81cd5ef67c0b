import { type ModelDraft, parseModelRow } from './memory-book.ts'
import type { ModelNode } from './model-node.ts'

/** Holds what nodes answered and signed against what is published in the end. */
export type ModelOracle = Readonly<{
  signed(size: number, root: string): void
  /** Number of acknowledgements so far, to tell what was acknowledged before a request. */
  acknowledgements(): number
  acknowledged(drafts: readonly ModelDraft[], seqs: readonly number[]): void
  /** Nothing of these drafts was published by this attempt, and never will be. */
  denied(drafts: readonly ModelDraft[]): void
  /** A ref was called missing by the answer to a request that was sent after so many acknowledgements. */
  missing(ref: string, before: number): void
  /** Acknowledged refs that are not among these, one sentence each. */
  lostAcknowledgements(known: ReadonlySet<string>): readonly string[]
  /** Compares the disks of the nodes, and returns all that is wrong. */
  judge(nodes: readonly ModelNode[]): readonly string[]
}>

export function openModelOracle(): ModelOracle {
  const roots = new Map<number, string>()
  const acks = new Map<string, Readonly<{ seq: number; order: number }>>()
  const deniedAttempts = new Set<string>()
  const wrong: string[] = []
  return {
    signed(size, root) {
      if ((roots.get(size) ?? root) !== root) wrong.push(`trees of size ${size} were signed with two roots`)
      roots.set(size, root)
    },
    acknowledgements: () => acks.size,
    acknowledged(drafts, seqs) {
      drafts.forEach(({ ref }, index) => {
        const seq = seqs[index] ?? 0
        const before = acks.get(ref)
        if (before !== undefined && before.seq !== seq)
          wrong.push(`${ref} was acknowledged as ${before.seq} and ${seq}`)
        if (before === undefined) acks.set(ref, { seq, order: acks.size })
      })
    },
    denied(drafts) {
      for (const { attempt } of drafts) deniedAttempts.add(attempt)
    },
    missing(ref, before) {
      const ack = acks.get(ref)
      if (ack !== undefined && ack.order < before)
        wrong.push(`${ref} was acknowledged, and missing in a later answer`)
    },
    lostAcknowledgements: (known) =>
      [...acks.keys()]
        .filter((ref) => !known.has(ref))
        .map((ref) => `${ref} was acknowledged, and is nowhere`),
    judge(nodes) {
      const [first, ...others] = nodes.map(({ disk }) => disk.rows)
      const bytesOf = (rows: readonly Uint8Array[] = []): string => Buffer.concat(rows).toString()
      if (others.some((rows) => bytesOf(rows) !== bytesOf(first)))
        wrong.push('the chains of the nodes differ')
      const drafts = (first ?? []).flatMap((bytes) => parseModelRow(bytes).drafts)
      const seqs = new Map(drafts.map(({ ref }, index) => [ref, index + 1]))
      if (seqs.size < drafts.length) wrong.push(`${drafts.length - seqs.size} drafts are doubled`)
      for (const [ref, { seq }] of acks) {
        if (seqs.get(ref) !== seq)
          wrong.push(`${ref} was acknowledged as ${seq}, and is ${seqs.get(ref) ?? 'lost'}`)
      }
      const published = drafts.filter(({ attempt }) => deniedAttempts.has(attempt))
      if (published.length > 0)
        wrong.push(`${published.length} drafts were published after "nothing was published"`)
      return wrong
    },
  }
}
