import type { Message, MessagePlace } from './message.ts'

/** Reason why the engine's message at a place is not the wanted one; null when it is. */
export function refusalOfPlace(message: Message, place: number, want: MessagePlace): string | null {
  if (place !== want.place) return `it is at place ${place}, and place ${want.place} is missing`
  if (message.logId !== want.logId) return 'it is of another log'
  if (message.stream !== want.stream) return `it is of stream ${message.stream} instead of ${want.stream}`
  if (message.place !== place) return `it was made for place ${message.place}`
  if (Buffer.compare(message.prev, want.prev) !== 0)
    return `it does not follow the message at place ${place - 1} of this node`
  if ((message.is === 'genesis') !== (place === 1)) return 'a stream begins with a genesis, and has no other'
  return null
}

/** Whether a message was made for the wanted place, after another message than the one that is known there. */
export function followsAnother({ logId, stream, place, prev }: Message, want: MessagePlace): boolean {
  const isForPlace = logId === want.logId && stream === want.stream && place === want.place
  return isForPlace && Buffer.compare(prev, want.prev) !== 0
}
