/** Reasons to refuse a note, checkpoint or receipt. The texts repeat nothing of the refused bytes. */
export const DOUBTS = {
  'note-too-long': 'the note is longer than a note may be',
  'note-malformed': 'the note is not well formed',
  'bad-signature': 'a signature by a known key does not hold',
  'no-known-signature': 'no known key has signed the note',
  'checkpoint-malformed': 'the checkpoint is not well formed',
  'other-origin': 'the checkpoint is of another log',
  'receipt-too-long': 'the receipt is longer than a receipt may be',
  'receipt-malformed': 'the receipt is not well formed',
  'not-included': 'the event is not in the tree at this place',
} as const

type Doubt = keyof typeof DOUBTS

/** A verified or well-formed value, or the reason for its refusal. */
export type Verdict<T> = Readonly<{ ok: true; value: T }> | Readonly<{ ok: false; doubt: Doubt }>

export function proved<T>(value: T): Verdict<T> {
  return { ok: true, value }
}

export function doubted(doubt: Doubt): Readonly<{ ok: false; doubt: Doubt }> {
  return { ok: false, doubt }
}
