/** Why something that was to be proved is not taken. Sentences of ours: nothing of what was given is repeated. */
export const DOUBTS = {
  'note-too-long': 'the note is longer than a note may be',
  'note-malformed': 'the note is not well formed',
  'bad-signature': 'a signature by a known key does not hold',
  'no-known-signature': 'no known key has signed the note',
  'not-signed-by-log': 'no key of the log has signed the checkpoint',
  'checkpoint-malformed': 'the checkpoint is not well formed',
  'other-origin': 'the checkpoint is of another log',
  'receipt-too-long': 'the receipt is longer than a receipt may be',
  'receipt-malformed': 'the receipt is not well formed',
  'not-included': 'the event is not in the tree at this place',
} as const

export type Doubt = keyof typeof DOUBTS

/** A value that was proved or is well formed, or why it is not. */
export type Verdict<T> = Readonly<{ ok: true; value: T }> | Readonly<{ ok: false; doubt: Doubt }>

export function proved<T>(value: T): Verdict<T> {
  return { ok: true, value }
}

export function doubted(doubt: Doubt): Readonly<{ ok: false; doubt: Doubt }> {
  return { ok: false, doubt }
}
