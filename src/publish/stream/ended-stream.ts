import type { SealCause } from '../../log/message/message.ts'

/** Reason why this node takes no drafts after a seal that leads it to no next stream, and what to do. */
export const ENDED: Readonly<Record<Exclude<SealCause, 'roll'>, string>> = {
  back: 'another node has taken the log off the engine with daybook cluster move --back: publish there, and stop this node. If it was this node, and it was interrupted, run that command here again',
  adopt: 'a fork of the log has ended, and it goes on under another origin: start this node again',
}
