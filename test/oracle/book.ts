/**
 * The oracle's own reading of the public files: events and their details. It shares no code with the service. It
 * computes every figure by a scan of all entries.
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

/** Effect of an entry on the figures: it adds itself, or it removes the event that it cancels. */
export type Effect = Readonly<{
  /** The event whose figures move: for a correction, the corrected one. */
  subject: PublicEntry
  /** The entry whose moment counts. */
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

/** Decimal string of billionths. */
export function decimal(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(10, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

/** Entries at or before a moment. */
export function knownAt(book: readonly PublicEntry[], atMs: number): readonly PublicEntry[] {
  return book.filter((entry) => entry.event.atMs <= atMs)
}

/** Effects of each book, as many questions read the same one. */
const known = new WeakMap<readonly PublicEntry[], readonly Effect[]>()

/** Entries as effects, in the order of the log. */
export function effects(book: readonly PublicEntry[]): readonly Effect[] {
  const found = known.get(book)
  // A book may have grown since.
  if (found?.length === book.length) return found
  const made = effectsOf(book)
  known.set(book, made)
  return made
}

function effectsOf(book: readonly PublicEntry[]): readonly Effect[] {
  const bySeq = new Map(book.map((entry) => [entry.event.seq, entry]))
  return book.map((entry) => {
    const kots = entry.event.kots === null ? 0n : billionths(entry.event.kots)
    if (entry.event.type !== 'correction') return { subject: entry, entry, kots, sign: 1 }
    const subject = bySeq.get(entry.details?.corrects ?? 0)
    if (subject === undefined) throw new Error(`correction ${entry.event.seq} corrects an unknown event`)
    const was = subject.event.kots === null ? 0n : billionths(subject.event.kots)
    if (kots !== -was)
      throw new Error(`correction ${entry.event.seq} has not the negative amount of the corrected event`)
    return { subject, entry, kots, sign: -1 }
  })
}

/** Entries that count: neither corrections nor cancelled by one. */
export function uncancelled(book: readonly PublicEntry[]): readonly PublicEntry[] {
  const cancelled = new Set(book.map((entry) => entry.details?.corrects ?? 0))
  return book.filter((entry) => entry.event.type !== 'correction' && !cancelled.has(entry.event.seq))
}

/** Sum of the amounts of the chosen effects. */
export function sum(all: readonly Effect[], chosen: (subject: PublicEvent) => boolean): bigint {
  let total = 0n
  for (const effect of all) if (chosen(effect.subject.event)) total += effect.kots
  return total
}

/** Number of the chosen events, without cancelled ones. */
export function count(all: readonly Effect[], chosen: (subject: PublicEvent) => boolean): number {
  let total = 0
  for (const effect of all) if (chosen(effect.subject.event)) total += effect.sign
  return total
}

/** Number of the chosen plays. A play event counts as the `count` of its details, or as one. */
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

/** Moment of the first event, as answers state it. */
export function launch(
  book: readonly PublicEntry[],
): Readonly<{ launchedAt: string | null; launchedAtMs: number | null }> {
  const first = book[0]
  return { launchedAt: first?.event.at ?? null, launchedAtMs: first?.event.atMs ?? null }
}

/** Seqs of the entries that correct and restate an event. */
export function corrections(book: readonly PublicEntry[], seq: number): object {
  const correctedBy = book.find((entry) => entry.details?.corrects === seq)?.event.seq ?? null
  const restatedBy = book.find((entry) => entry.details?.restates === seq)?.event.seq ?? null
  return { asOf: asOf(book), seq, correctedBy, restatedBy }
}

/** The last price that is not cancelled; null before the first. */
export function price(book: readonly PublicEntry[]): string | null {
  return uncancelled(book).findLast((entry) => entry.event.type === 'price')?.details?.price ?? null
}
