import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { type NodeBook, RowFault } from '../../../src/cluster/node/cluster-node.ts'

/** A draft of the model. `needs` is a ref that must be published before it. `attempt` names one sending of it. */
export type ModelDraft = Readonly<{ ref: string; needs: string | null; attempt: string }>

/** Answer to a publication: the seq of each ref, or the ref that is missing. */
export type ModelAnswer = Readonly<{ seqs: readonly number[] } | { missing: string }>

/** The disk of a model node. It survives crashes. `isTight`: the node takes no drafts, and may still write rows. */
export type ModelDisk = { rows: Uint8Array[]; isFull: boolean; isBroken: boolean; isTight?: boolean }

export type MemoryBook = NodeBook &
  Readonly<{
    /** Publishes drafts in the open transaction, all or none. A ref that is published already gets its seq. */
    publish(drafts: readonly ModelDraft[]): ModelAnswer
    /** Makes every later call fail, as the death of the process does. */
    kill(): void
  }>

type ModelRow = Readonly<{ place: number; prev: string; drafts: readonly ModelDraft[]; isEnd?: boolean }>

/** Rows that a disk keeps for others. */
const KEPT_MAX = 60

export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}

/** A book in memory, whose log is a list of drafts. `onSigned` hears of each signed tree: its size and its root. */
export function openMemoryBook(disk: ModelDisk, onSigned: (size: number, root: string) => void): MemoryBook {
  let isDead = false
  let built: ModelDraft[] | null = null
  const seqs = new Map<string, number>()
  const end: { place: number; digest: Uint8Array; size: number; root: string } = {
    place: 0,
    digest: new Uint8Array(32),
    size: 0,
    root: '',
  }

  function assertAlive(): void {
    assert.ok(!isDead, 'the process of this book has died')
  }

  function take(bytes: Uint8Array): void {
    for (const { ref } of parseModelRow(bytes).drafts) {
      end.size += 1
      end.root = createHash('sha256').update(end.root).update(ref).digest('hex')
      seqs.set(ref, end.size)
    }
    end.place += 1
    end.digest = digestOf(bytes)
  }

  function keep(bytes: readonly Uint8Array[]): void {
    if (disk.isFull) throw new DiskFull('the disk is full')
    if (disk.isBroken) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    for (const row of bytes) {
      disk.rows.push(row)
      take(row)
    }
    onSigned(end.size, end.root)
  }

  function assertNext({ place, bytes }: TableRow, prev: Uint8Array): void {
    const message = parseModelRow(bytes)
    if (message.place !== place) throw new RowFault(place, 'the row is at another place')
    if (message.prev !== Buffer.from(prev).toString('hex')) throw new RowFault(place, 'prev differs', true)
  }

  for (const bytes of disk.rows) take(bytes)
  return {
    applied: () => ({ place: end.place, digest: end.digest }),
    begin() {
      assertAlive()
      assert.equal(built, null, 'one transaction at a time')
      built = []
    },
    publish(drafts) {
      assert.ok(built !== null)
      const before = built.length
      const open = built
      const known = (ref: string): number | undefined => {
        const index = open.findIndex((draft) => draft.ref === ref)
        return seqs.get(ref) ?? (index < 0 ? undefined : end.size + index + 1)
      }
      const found: number[] = []
      for (const draft of drafts) {
        if (draft.needs !== null && known(draft.needs) === undefined) {
          open.length = before
          return { missing: draft.needs }
        }
        if (known(draft.ref) === undefined) open.push(draft)
        found.push(known(draft.ref) ?? assert.fail())
      }
      return { seqs: found }
    },
    row() {
      assert.ok(built !== null)
      if (built.length === 0) return null
      const prev = Buffer.from(end.digest).toString('hex')
      return Buffer.from(JSON.stringify({ place: end.place + 1, prev, drafts: built } satisfies ModelRow))
    },
    commit(bytes) {
      assertAlive()
      keep([bytes])
      built = null
    },
    rollback() {
      assertAlive()
      built = null
    },
    apply(rows) {
      assertAlive()
      assert.equal(built, null, 'nothing is applied inside of another transaction')
      assert.equal(rows[0]?.place, end.place + 1)
      rows.forEach((message, index) => {
        const before = rows[index - 1]
        assertNext(message, before === undefined ? end.digest : digestOf(before.bytes))
      })
      keep(rows.map(({ bytes }) => bytes))
    },
    kept: (from) =>
      disk.rows
        .map((bytes, index) => ({ place: index + 1, bytes }))
        .slice(Math.max(0, from - 1, disk.rows.length - KEPT_MAX)),
    isEnded: () => parseModelRow(disk.rows.at(-1) ?? firstRow()).isEnd ?? false,
    kill: () => void (isDead = true),
  }
}

/** The row with which the log of the model begins. */
export function firstRow(): Uint8Array {
  return Buffer.from(JSON.stringify({ place: 1, prev: '00'.repeat(32), drafts: [] } satisfies ModelRow))
}

export function parseModelRow(bytes: Uint8Array): ModelRow {
  return JSON.parse(Buffer.from(bytes).toString())
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
