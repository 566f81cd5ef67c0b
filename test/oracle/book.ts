/**
 * The oracle's own reading of the public files: an event with its details, and what both together say.
 * Nothing here is shared with the service; every figure of the oracle is a scan of all these entries.
 */
export type PublicEvent = Readonly<{
  seq: number
  type: string
  kind: string
  at: string
  atMs: number
  contestId: number | null
  kots: string | null
  tx: string | null
}>

export type PublicDetails = Readonly<{
  title?: string
  opensAt?: string
  opensAtMs?: number
  closesAt?: string
  closesAtMs?: number
  count?: number
  unlocksAt?: string
  unlocksAtMs?: number
  reviewUntil?: string
  reviewUntilMs?: number
  claim?: boolean
  month?: string
  paysAt?: string
  paysAtMs?: number
  digest?: string
  recipients?: number
  bytes?: number
  url?: string
  price?: string
  corrects?: number
  restates?: number
}>

export type PublicEntry = Readonly<{ event: PublicEvent; details: PublicDetails | null }>

/** What an entry does to the figures: itself, or the event that it cancels taken back. */
export type Effect = Readonly<{
  /** The event whose figures move: for a correction, the corrected one. */
  subject: PublicEntry
  /** The entry that moves them, whose moment counts. */
  entry: PublicEntry
  /** Billionths, negative for a correction. */
  kots: bigint
  /** 1, or -1 for a correction. */
  sign: 1 | -1
}>

/** Billionths of a decimal string with nine decimals. */
export function billionths(text: string): bigint {
  if (!/^-?(0|[1-9]\d*)\.\d{9}$/.test(text) || text === '-0.000000000') {
    throw new Error(`${text} is no amount`)
  }
  return BigInt(text.replace('.', ''))
}

/** The decimal string of billionths. */
export function decimal(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(10, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

/** What was known at a moment: all entries at or before it. */
export function knownAt(book: readonly PublicEntry[], atMs: number): readonly PublicEntry[] {
  return book.filter((entry) => entry.event.atMs <= atMs)
}

/** The entries as effects, in the order of the log. */
export function effects(book: readonly PublicEntry[]): readonly Effect[] {
  const bySeq = new Map(book.map((entry) => [entry.event.seq, entry]))
  return book.map((entry) => {
    const kots = entry.event.kots === null ? 0n : billionths(entry.event.kots)
    if (entry.event.type !== 'correction') return { subject: entry, entry, kots, sign: 1 }
    const subject = bySeq.get(entry.details?.corrects ?? 0)
    if (subject === undefined) throw new Error(`correction ${entry.event.seq} corrects nothing that is known`)
    const was = subject.event.kots === null ? 0n : billionths(subject.event.kots)
    if (kots !== -was) throw new Error(`correction ${entry.event.seq} is not minus what it corrects`)
    return { subject, entry, kots, sign: -1 }
  })
}

/** The entries that stand: neither corrections nor cancelled by one. */
export function standing(book: readonly PublicEntry[]): readonly PublicEntry[] {
  const cancelled = new Set(book.map((entry) => entry.details?.corrects ?? 0))
  return book.filter((entry) => entry.event.type !== 'correction' && !cancelled.has(entry.event.seq))
}

/** The sum of the amounts of the effects that a question chooses. */
export function sum(all: readonly Effect[], chosen: (subject: PublicEvent) => boolean): bigint {
  let total = 0n
  for (const effect of all) if (chosen(effect.subject.event)) total += effect.kots
  return total
}

/** The number of events that a question chooses, corrected ones taken back. */
export function count(all: readonly Effect[], chosen: (subject: PublicEvent) => boolean): number {
  let total = 0
  for (const effect of all) if (chosen(effect.subject.event)) total += effect.sign
  return total
}

/** The number of plays that a question chooses: each play event counts what its details say, or one. */
export function plays(all: readonly Effect[], chosen: (subject: PublicEvent) => boolean): number {
  let total = 0
  for (const { subject, sign } of all) {
    if (subject.event.type === 'play' && chosen(subject.event)) total += sign * (subject.details?.count ?? 1)
  }
  return total
}

/** The last entry counted. */
export function asOf(
  book: readonly PublicEntry[],
): Readonly<{ seq: number; at: string | null; atMs: number | null }> {
  const last = book.at(-1)
  return last === undefined
    ? { seq: 0, at: null, atMs: null }
    : { seq: last.event.seq, at: last.event.at, atMs: last.event.atMs }
}

/** Which entries set an event right: found by looking at every one of them. */
export function corrections(book: readonly PublicEntry[], seq: number): object {
  const correctedBy = book.find((entry) => entry.details?.corrects === seq)?.event.seq ?? null
  const restatedBy = book.find((entry) => entry.details?.restates === seq)?.event.seq ?? null
  return { asOf: asOf(book), seq, correctedBy, restatedBy }
}

/** The last price that stands, or null before the first. */
export function price(book: readonly PublicEntry[]): string | null {
  return standing(book).findLast((entry) => entry.event.type === 'price')?.details?.price ?? null
}
