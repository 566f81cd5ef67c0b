import { type Amount, billionths } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import type { Entry } from '../../protocol/event.ts'
import { boundOf, type Month } from '../../protocol/moment.ts'
import type { EventType } from '../../protocol/rules.ts'
import { contestIdOf, type Seq, seqOf } from '../../protocol/seq.ts'

/** Events in one slab of columns. */
const SLAB_EVENTS = 65_536

type Slab = Readonly<{
  names: Uint16Array
  contests: Float64Array
  moments: Float64Array
  amounts: BigInt64Array
  counts: Float64Array
}>

/** Type and kind of an event, and whether it has an amount. */
type Name = Readonly<{ type: EventType; kind: string; hasAmount: boolean }>

/**
 * Fields of events that a correction of them needs, in 34 bytes for each event. Of the details only count and month are
 * kept, and transactions are not.
 */
type EventColumns = Readonly<{
  /** Adds the next entry, with the next seq. */
  add(entry: Entry): void
  entry(seq: Seq): Entry | undefined
}>

/** Opens empty columns. */
export function openEventColumns(): EventColumns {
  const slabs: Slab[] = []
  const names: Name[] = []
  const codes = new Map<string, number>()
  // Few amounts need more than 64 bits, and few events have a month.
  const largeAmounts = new Map<Seq, Amount>()
  const months = new Map<Seq, Month>()
  let count = 0

  function codeOf(type: EventType, kind: string, hasAmount: boolean): number {
    const key = `${type}/${kind}/${hasAmount}`
    const known = codes.get(key)
    if (known !== undefined) return known
    assert(names.length < 65_536, 'there are fewer than 65,536 types and kinds')
    names.push({ type, kind, hasAmount })
    codes.set(key, names.length - 1)
    return names.length - 1
  }

  return {
    add({ event, details }) {
      assert(event.seq === count + 1, `seq ${event.seq} follows ${count}`)
      const at = count % SLAB_EVENTS
      if (at === 0) slabs.push(emptySlab())
      const slab = slabs.at(-1)
      assert(slab !== undefined, 'there is a slab to write to')
      const amount = event.kots ?? 0n
      slab.names[at] = codeOf(event.type, event.kind, event.kots !== null)
      slab.contests[at] = event.contestId ?? 0
      slab.moments[at] = event.atMs
      slab.amounts[at] = amount
      slab.counts[at] = details?.count ?? 0
      if (event.kots !== null && BigInt.asIntN(64, amount) !== amount) largeAmounts.set(event.seq, event.kots)
      if (details?.month !== undefined) months.set(event.seq, details.month)
      count += 1
    },
    entry(seq) {
      if (seq < 1 || seq > count) return undefined
      const at = (seq - 1) % SLAB_EVENTS
      const slab = slabs[(seq - 1 - at) / SLAB_EVENTS]
      const name = names[slab?.names[at] ?? -1]
      assert(slab !== undefined && name !== undefined, `seq ${seq} is in its slab`)
      const { type, kind, hasAmount } = name
      const contest = slab.contests[at] ?? 0
      const plays = slab.counts[at] ?? 0
      const month = months.get(seq)
      const amount = largeAmounts.get(seq) ?? billionths(slab.amounts[at] ?? 0n)
      return {
        event: {
          seq: seqOf(seq),
          type,
          kind,
          atMs: boundOf(slab.moments[at] ?? 0),
          contestId: contest === 0 ? null : contestIdOf(contest),
          kots: hasAmount ? amount : null,
          tx: null,
        },
        details: { ...(plays === 0 ? {} : { count: plays }), ...(month === undefined ? {} : { month }) },
      }
    },
  }
}

function emptySlab(): Slab {
  return {
    names: new Uint16Array(SLAB_EVENTS),
    contests: new Float64Array(SLAB_EVENTS),
    moments: new Float64Array(SLAB_EVENTS),
    amounts: new BigInt64Array(SLAB_EVENTS),
    counts: new Float64Array(SLAB_EVENTS),
  }
}
