import type { EventEmitter } from 'node:events'
import type { LogReader } from '../../log/store/reader.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CallerSlots } from '../allowance/caller-slots.ts'
import { SECOND_MS } from '../../protocol/moment.ts'

/**
 * Place of a seq. `here`: this node has reached it. `nowhere`: the whole log ends before it, at `head`. `elsewhere`:
 * the log has it, and this node is behind. `unknown`: no answer came in time.
 */
type SeqPlace = Readonly<{ is: 'here' | 'elsewhere' | 'unknown' }> | Readonly<{ is: 'nowhere'; head: Seq }>

type Wait = Readonly<{
  seq: number
  caller: string
  /** Longest wait in milliseconds. */
  msMax: number
  /** Whether `elsewhere` ends the wait too. */
  placeOnly: boolean
}>

/** Requests of one thread that wait until this node has reached a seq. */
export type HeadWaits = Readonly<{
  /**
   * Waits until this node has reached the seq, or the whole log is known to end before it. Writes and reads nothing
   * meanwhile. Ends when `gone` closes, and immediately when too many requests wait.
   */
  wait(wait: Wait, gone: EventEmitter): Promise<SeqPlace>
  /** Whether this node has reached the seq. */
  isHere(seq: number): boolean
  /** Number of waiting requests. */
  waiting(): number
  /** Ends all waits, and every later one at once. */
  end(): void
}>

/** Settings of a node that follows a log, and may be behind events that its callers have seen elsewhere. */
export type Following = Readonly<{
  reader: Pick<LogReader, 'head'>
  waits: HeadWaits
  /** Longest wait of a request in milliseconds; `BEHIND_WAIT_MS_MAX` if absent. */
  waitMsMax?: number
}>

type HeadWaitsSettings = Readonly<{
  reader: Pick<LogReader, 'head' | 'onHead'>
  /** Counts the waiting requests of each caller and of the node. */
  slots: Pick<CallerSlots, 'take'>
  /** Head of the whole log, read after the call; null when it is unknown. Never rejects. */
  barrier(): Promise<Seq | null>
}>

const HERE: SeqPlace = { is: 'here' }
const UNKNOWN: SeqPlace = { is: 'unknown' }

type Waiting = Readonly<{ seq: number; settle(place: SeqPlace): void }>

export function openHeadWaits({ reader, slots, barrier }: HeadWaitsSettings): HeadWaits {
  const all = new Set<Waiting>()
  let ended = false
  const stopHead = reader.onHead((head) => {
    for (const { seq, settle } of all) if (seq <= head.seq) settle(HERE)
  })

  function begin(
    { seq, msMax, placeOnly }: Wait,
    gone: EventEmitter,
    release: () => void,
  ): Promise<SeqPlace> {
    return new Promise((resolve) => {
      let known: SeqPlace = UNKNOWN
      const leave = (): void => settle(UNKNOWN)
      const timer = setTimeout(() => settle(known), msMax)
      const one: Waiting = { seq, settle }
      function settle(place: SeqPlace): void {
        if (!all.delete(one)) return
        clearTimeout(timer)
        gone.off('close', leave)
        release()
        resolve(place)
      }
      all.add(one)
      gone.once('close', leave)
      void barrier().then((head) => {
        if (head === null) return
        known = head < seq ? { is: 'nowhere', head } : { is: 'elsewhere' }
        if (head < seq || placeOnly) settle(known)
      })
    })
  }

  return {
    wait(wait, gone) {
      if (wait.seq <= reader.head().seq) return Promise.resolve(HERE)
      const taken = ended ? undefined : slots.take(wait.caller)
      if (taken?.ok !== true) return Promise.resolve(UNKNOWN)
      return begin(wait, gone, taken.slot.release)
    },
    isHere: (seq) => seq <= reader.head().seq,
    waiting: () => all.size,
    end() {
      ended = true
      stopHead()
      for (const { settle } of all) settle(UNKNOWN)
    },
  }
}

/** Milliseconds by which a moment in a query may be later than the clock of a following node. */
export const CLOCK_TOLERANCE_MS: number = 5 * SECOND_MS
/** Most milliseconds that a request waits for a seq. */
export const BEHIND_WAIT_MS_MAX: number = 5 * SECOND_MS
/** Waiting requests of one caller. */
export const BEHIND_WAITS_PER_CALLER = 10
/** Waiting requests of the node. */
export const BEHIND_WAITS_PER_NODE = 1_000
/** Seconds after which a refused request may be sent again. */
export const BEHIND_RETRY_SECONDS = 2
