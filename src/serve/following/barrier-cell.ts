import { BEFORE_FIRST, type Seq, seqOf } from '../../protocol/seq.ts'

/**
 * Questions of all threads for the head of the whole log, in shared memory. One thread answers them. An answer covers
 * every question asked before the answer began.
 */
type BarrierCell = Readonly<{
  /** The memory with which other threads open the same cell. */
  buffer: SharedArrayBuffer
  /**
   * Asks for the head of the whole log after this call. Null when it is unknown, or when no answer comes within `msMax`
   * after the question or the last answer.
   */
  ask(msMax: number): Promise<Seq | null>
  /** Settles when a question is open, or after a second. Only the answering thread calls it. */
  asked(): Promise<void>
  /** Begins an answer, which covers all questions until now. Undefined when none is open. */
  begin(): bigint | undefined
  /** Answers with the head of the whole log; null when it is unknown. */
  answer(begun: bigint, head: Seq | null): void
}>

/** Longest wait for a question, so that a stopping thread does not wait forever. */
const WAIT_MS = 1_000
const ASKED = 0
const ANSWERED = 1
const HEAD = 2
const UNKNOWN = -1n

export function openBarrierCell(buffer: SharedArrayBuffer = new SharedArrayBuffer(24)): BarrierCell {
  const cell = new BigInt64Array(buffer)
  const isOpen = (): boolean => Atomics.load(cell, ASKED) > Atomics.load(cell, ANSWERED)
  return {
    buffer,
    async ask(msMax) {
      const own = Atomics.add(cell, ASKED, 1n) + 1n
      Atomics.notify(cell, ASKED)
      for (;;) {
        const answered = Atomics.load(cell, ANSWERED)
        if (answered >= own) return headOf(Atomics.load(cell, HEAD))
        const woken = await Atomics.waitAsync(cell, ANSWERED, answered, msMax).value
        if (woken === 'timed-out') return null
      }
    },
    async asked() {
      const asked = Atomics.load(cell, ASKED)
      if (!isOpen()) await Atomics.waitAsync(cell, ASKED, asked, WAIT_MS).value
    },
    begin: () => (isOpen() ? Atomics.load(cell, ASKED) : undefined),
    answer(begun, head) {
      Atomics.store(cell, HEAD, head === null ? UNKNOWN : BigInt(head))
      Atomics.store(cell, ANSWERED, begun)
      Atomics.notify(cell, ANSWERED)
    },
  }
}

function headOf(value: bigint): Seq | null {
  if (value === UNKNOWN) return null
  return value === 0n ? BEFORE_FIRST : seqOf(Number(value))
}
