import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { HeldChange } from '../row/log-row.ts'
import type { HeldDrafts } from '../../publish/held-drafts.ts'
import { bytesOfChange, DRAFT_ID_BYTES } from './row-room.ts'

/** The changes of held drafts since the last commit, in order. */
export type HeldGathering = Readonly<{
  /** The held drafts, with their changes gathered. */
  drafts: HeldDrafts
  changes(): readonly HeldChange[]
  /** Most bytes of the changes in a row. */
  bytes(): number
  clear(): void
}>

/** A change, and the ids of all drafts with the same change. */
type Run = Readonly<{ change: HeldChange; ids: number[] }>

export function gatherHeldDrafts(drafts: HeldDrafts): HeldGathering {
  let runs: Run[] = []
  let bytes = 0
  function note(change: HeldChange, ids: number[] = []): void {
    const last = runs.at(-1)
    if (last !== undefined && isAlike(last.change, change)) {
      last.ids.push(...ids)
      bytes += DRAFT_ID_BYTES * ids.length
    } else {
      runs.push({ change, ids })
      bytes += bytesOfChange(change)
    }
  }

  return {
    drafts: gatheredDrafts(drafts, note),
    changes: () => runs.map(({ change }) => change),
    bytes: () => bytes,
    clear() {
      runs = []
      bytes = 0
    },
  }
}

/** Held drafts that record each of their changes. */
function gatheredDrafts(drafts: HeldDrafts, note: (change: HeldChange, ids?: number[]) => void): HeldDrafts {
  /** Drafts of the current request that are held. */
  let unwritten: HeldDraft[] = []
  return {
    ...drafts,
    hold(...sent) {
      const held = drafts.hold(...sent)
      unwritten.push(held)
      return held
    },
    write() {
      drafts.write()
      for (const held of unwritten) note({ is: 'hold', held })
      unwritten = []
    },
    forget() {
      drafts.forget()
      unwritten = []
    },
    change(held) {
      drafts.change(held)
      const { id, chain, place, settledAt, vouch, reason } = held
      const ids = [id]
      note({ is: 'change', ids, chain, place, settledAt, vouch, reason }, ids)
    },
    published(held, seq, at) {
      drafts.published(held, seq, at)
      const ids = [held.id]
      note({ is: 'remove', ids }, ids)
      if (held.vouch !== null) note({ is: 'vouch', seq, reason: held.vouch, at })
    },
    end(held, { state, settledAt, place, reason }) {
      drafts.end(held, { state, settledAt, place, reason })
      const ids = [held.id]
      note({ is: 'settle', ids, state, settledAt, place, reason }, ids)
    },
    keepChain(id) {
      drafts.keepChain(id)
      note({ is: 'chain', id })
    },
    // The book's rollback undoes the changes.
    reload: () => undefined,
  }
}

/** Whether two changes differ only in their ids. */
function isAlike(one: HeldChange, other: HeldChange): boolean {
  switch (one.is) {
    case 'change':
      return other.is === 'change' && CHANGEABLE.every((name) => one[name] === other[name])
    case 'remove':
      return other.is === 'remove'
    case 'settle':
      return other.is === 'settle' && ENDED.every((name) => one[name] === other[name])
    case 'hold':
    case 'vouch':
    case 'chain':
      return false
  }
}

const CHANGEABLE = ['chain', 'place', 'settledAt', 'vouch', 'reason'] as const
const ENDED = ['state', 'settledAt', 'place', 'reason'] as const
