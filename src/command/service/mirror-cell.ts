import { assert } from '../../protocol/brand.ts'
import type { MirrorReport } from '../../serve/api/status-route.ts'

/** The report of a mirror about itself, in shared memory: one thread writes it, and all threads read it. */
export type MirrorCell = Readonly<{
  /** The memory with which other threads open the same cell. */
  buffer: SharedArrayBuffer
  /** The present report; null before the first one. */
  read(): MirrorReport | null
  /** Replaces the report. Its version is one higher. Only one thread calls it. */
  write(report: Omit<MirrorReport, 'version'>): void
}>

/** Bytes of the longest report: ten keys and the words of a contradiction fit many times. */
const REPORT_BYTES_MAX = 32 * 1024
const HEADER_BYTES = 8
/** Twice the version; odd while a report is being written. */
const STATE = 0
const LENGTH = 1

export function openMirrorCell(
  buffer: SharedArrayBuffer = new SharedArrayBuffer(HEADER_BYTES + REPORT_BYTES_MAX),
): MirrorCell {
  const header = new Int32Array(buffer, 0, 2)
  const bytes = new Uint8Array(buffer, HEADER_BYTES)
  let known: Readonly<{ state: number; report: MirrorReport }> | null = null

  /** The report of this state; undefined when it has been replaced meanwhile. */
  function readAt(state: number): MirrorReport | undefined {
    const copy = bytes.slice(0, Atomics.load(header, LENGTH))
    if (Atomics.load(header, STATE) !== state) return undefined
    const report: Omit<MirrorReport, 'version'> = JSON.parse(new TextDecoder().decode(copy))
    return { ...report, version: state / 2 }
  }

  return {
    buffer,
    read() {
      for (;;) {
        const state = Atomics.load(header, STATE)
        if (state === 0) return null
        if (known?.state === state) return known.report
        const report = state % 2 === 0 ? readAt(state) : undefined
        if (report !== undefined) known = { state, report }
      }
    },
    write(report) {
      const text = new TextEncoder().encode(JSON.stringify(report))
      assert(text.byteLength <= REPORT_BYTES_MAX, `a report of ${text.byteLength} bytes`)
      Atomics.add(header, STATE, 1)
      bytes.set(text)
      Atomics.store(header, LENGTH, text.byteLength)
      Atomics.add(header, STATE, 1)
    },
  }
}
