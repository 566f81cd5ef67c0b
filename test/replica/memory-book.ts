import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { EngineMessage } from '../../src/engine/log-engine.ts'
import type { Book } from '../../src/publish/replica/replica-book.ts'
import { MessageFault } from '../../src/publish/replica/replica-book.ts'

/** A draft of the model. `needs` is a ref that must be published before it. `attempt` names one sending of it. */
export type ModelDraft = Readonly<{ ref: string; needs: string | null; attempt: string }>

/** Answer to a publication: the seq of each ref, or the ref that is missing. */
export type ModelAnswer = Readonly<{ seqs: readonly number[] } | { missing: string }>

/** The disk of a model writer. It survives crashes. `isTight`: it was too full for a commit, before it was offered. */
export type ModelDisk = { messages: Uint8Array[]; isFull: boolean; isBroken: boolean; isTight: boolean }

export type MemoryBook = Book &
  Readonly<{
    /** Publishes drafts in the open transaction, all or none. A ref that is published already gets its seq. */
    publish(drafts: readonly ModelDraft[]): ModelAnswer
    /** Makes every later call fail, as the death of the process does. */
    kill(): void
  }>

type ModelMessage = Readonly<{ place: number; prev: string; drafts: readonly ModelDraft[] }>

/** Messages that a disk keeps for others. */
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
    for (const { ref } of parseModelMessage(bytes).drafts) {
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
    for (const message of bytes) {
      disk.messages.push(message)
      take(message)
    }
    onSigned(end.size, end.root)
  }

  function assertNext({ place, bytes }: EngineMessage, prev: Uint8Array): void {
    const message = parseModelMessage(bytes)
    if (message.place !== place) throw new MessageFault(place, 'the message is at another place')
    if (message.prev !== Buffer.from(prev).toString('hex'))
      throw new MessageFault(place, 'prev differs', true)
  }

  for (const bytes of disk.messages) take(bytes)
  return {
    beginning: () => (disk.messages[0] === undefined ? null : digestOf(disk.messages[0])),
    learnBeginning: () => undefined,
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
    message() {
      assert.ok(built !== null)
      if (built.length === 0) return null
      const prev = Buffer.from(end.digest).toString('hex')
      return Buffer.from(JSON.stringify({ place: end.place + 1, prev, drafts: built } satisfies ModelMessage))
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
    apply(messages) {
      assertAlive()
      assert.equal(built, null, 'nothing is applied inside of another transaction')
      assert.equal(messages[0]?.place, end.place + 1)
      messages.forEach((message, index) => {
        const before = messages[index - 1]
        assertNext(message, before === undefined ? end.digest : digestOf(before.bytes))
      })
      keep(messages.map(({ bytes }) => bytes))
    },
    kept: (from) =>
      disk.messages
        .map((bytes, index) => ({ place: index + 1, bytes }))
        .slice(Math.max(0, from - 1, disk.messages.length - KEPT_MAX)),
    kill: () => void (isDead = true),
  }
}

export function parseModelMessage(bytes: Uint8Array): ModelMessage {
  return JSON.parse(Buffer.from(bytes).toString())
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
