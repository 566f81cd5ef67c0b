import type { EventWire } from '../../src/protocol/event.ts'
import type { Random } from '../../sim/random.ts'

/** A draft in the form of a publish request. */
export type ModelDraft = Readonly<{
  ref: string
  type: string
  kind: string
  contestId?: number
  kots?: string
  tx?: string
  details?: Readonly<Record<string, unknown>>
}>

/** Filter parameters, the same for pages and streams. All but `nonzero` are lists with commas. */
export type ModelFilter = Readonly<{ type?: string; kind?: string; contestId?: string; nonzero?: 1 }>

/** A model of the log: an array of lines. */
export type LogModel = Readonly<{
  lines: readonly string[]
  /** Details lines by index; null for an event without details. */
  details: readonly (string | null)[]
  head(): number
  lastMs(): number
  /** Makes drafts that the books admit in this order. */
  drafts(random: Random, count: number, which?: 'all' | 'of-no-contest'): ModelDraft[]
  /** Adds the events of drafts that are published at a moment. */
  publish(drafts: readonly ModelDraft[], nowMs: number): void
}>

const wires = new WeakMap<LogModel, EventWire[]>()

export function openLogModel(): LogModel {
  const events: EventWire[] = []
  const lines: string[] = []
  const details: (string | null)[] = []
  const running: number[] = []
  let drafted = 0
  let contests = 0

  function draft(random: Random, ofContests: boolean): ModelDraft[] {
    const ref = (): string => `model-${++drafted}`
    const kots = random.chance(0.1)
      ? '0'
      : `${random.below(1000)}.${String(random.below(1e9)).padStart(9, '0')}`
    // Several events may name one.
    const tx = random.chance(0.5) ? { tx: `transaction-${drafted - (drafted % 3)}` } : {}
    if (ofContests && random.chance(0.04)) {
      const contestId = ++contests
      running.push(contestId)
      const opensAt = '2026-05-01T00:00:00.000Z'
      const plan = { title: `Contest ${contestId} “ü”`, opensAt, closesAt: '2027-05-01T00:00:00.000Z' }
      return [
        { ref: ref(), type: 'contest', kind: 'scheduled', contestId, details: plan },
        { ref: ref(), type: 'contest', kind: 'opened', contestId },
      ]
    }
    const contestId = running[random.below(running.length)]
    if (ofContests && contestId !== undefined && random.chance(0.5)) {
      const kind = random.pick(['entry', 'vote', 'boost'])
      const counted = random.chance(0.2) ? { details: { count: 2 } } : {}
      return [{ ref: ref(), type: 'play', kind, contestId, kots, ...tx, ...counted }]
    }
    if (random.chance(0.15)) {
      const price = `0.${String(random.below(1e9)).padStart(12, '0')}`
      return [{ ref: ref(), type: 'price', kind: 'usd', details: { price } }]
    }
    return [{ ref: ref(), type: 'trade', kind: random.pick(['buy', 'sell']), kots, ...tx }]
  }

  const model: LogModel = {
    lines,
    details,
    head: () => lines.length,
    lastMs: () => events.at(-1)?.atMs ?? 0,
    drafts: (random, count, which = 'all') =>
      Array.from({ length: count }, () => draft(random, which === 'all')).flat(),
    publish(drafts, nowMs) {
      for (const { type, kind, contestId = null, kots, tx = null, details: given } of drafts) {
        const seq = lines.length + 1
        const atMs = Math.max(nowMs, model.lastMs())
        const at = new Date(atMs).toISOString()
        const amount = kots === undefined ? null : kots.includes('.') ? kots : `${kots}.000000000`
        const event = { seq, type, kind, at, atMs, contestId, kots: amount, tx }
        events.push(event)
        lines.push(JSON.stringify(event))
        details.push(given === undefined ? null : JSON.stringify({ seq, details: withMoments(given) }))
      }
    },
  }
  wires.set(model, events)
  return model
}

/** Replaces each moment of the details by its pair of fields. */
function withMoments(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([field, value]) =>
      field.endsWith('At')
        ? [
            [field, value],
            [`${field}Ms`, Date.parse(String(value))],
          ]
        : [[field, value]],
    ),
  )
}

/** The events of the model that match a filter, in order. */
export function matching(model: LogModel, filter: ModelFilter): readonly EventWire[] {
  const { type, kind, contestId, nonzero } = filter
  return (wires.get(model) ?? []).filter(
    (event) =>
      (type === undefined || type.split(',').includes(event.type)) &&
      (kind === undefined || kind.split(',').includes(event.kind)) &&
      (contestId === undefined || contestId.split(',').includes(String(event.contestId))) &&
      (nonzero === undefined || (event.kots !== null && event.kots !== '0.000000000')),
  )
}

export function filterOf(random: Random): ModelFilter {
  return {
    ...(random.chance(0.4)
      ? { type: random.pick(['play', 'trade,price', 'price', 'contest,play', 'burn']) }
      : {}),
    ...(random.chance(0.3) ? { kind: random.pick(['buy', 'entry', 'usd,vote,opened', 'nothing']) } : {}),
    ...(random.chance(0.3) ? { contestId: random.pick(['1', '2', '3,1,99', '4,2']) } : {}),
    ...(random.chance(0.2) ? { nonzero: 1 } : {}),
  }
}

/** The query of these parameters, with its question mark. */
export function queryOf(parameters: Readonly<Record<string, string | number>>): string {
  const text = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? '' : `?${text}`
}
