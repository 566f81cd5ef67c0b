import type { HeldChange } from '../../log/held/held-change.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { HeldDrafts } from '../../publish/held/held-drafts.ts'

/** Makes a change of held drafts that another node has made. Returns why it does not fit; null when it is made. */
export function applyHeld(held: HeldDrafts, change: HeldChange): string | null {
  switch (change.is) {
    case 'hold': {
      const { id, ref } = change.held
      if (held.find(ref) !== undefined || held.numbered(id) !== undefined)
        return 'it holds a draft that is held'
      held.add(change.held)
      return null
    }
    case 'change': {
      const { chain, place, settledAt, vouch, reason } = change
      return each(held, change.ids, (draft) =>
        held.change({ ...draft, chain, place, settledAt, vouch, reason }),
      )
    }
    case 'remove':
      return each(held, change.ids, held.remove)
    case 'settle': {
      const { state, settledAt, place, reason } = change
      return each(held, change.ids, (draft) => held.settle(draft, { state, settledAt, place, reason }))
    }
    case 'vouch':
      held.vouch(change.seq, change.reason, change.at)
      return null
    case 'chain':
      if (held.chain() !== null) return 'it names the chain of the log again'
      held.keepChain(change.id)
      return null
  }
}

function each(held: HeldDrafts, ids: readonly number[], make: (draft: HeldDraft) => void): string | null {
  for (const id of ids) {
    const draft = held.numbered(id)
    if (draft === undefined) return 'it changes a draft that is not held'
    make(draft)
  }
  return null
}
