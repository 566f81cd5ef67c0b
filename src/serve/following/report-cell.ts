import { assert } from '../../protocol/brand.ts'

/** Report of a node about itself, in shared memory. One thread writes it, and all threads read it. */
export type ReportCell<Report extends object> = Readonly<{
  /** The memory with which other threads open the same cell. */
  buffer: SharedArrayBuffer
  /** Current report; null before the first one. Its version changes with every other field. */
  read(): (Report & Readonly<{ version: number }>) | null
  /** Replaces the report, unless it is the same. Only one thread calls it. */
  write(report: Report): void
}>

/** Bytes of the longest report: ten keys and the text of a contradiction. */
const REPORT_BYTES_MAX = 64 * 1024
const HEADER_BYTES = 8
/** Twice the version; odd while a report is being written. */
const STATE = 0
const LENGTH = 1

export function allocateReport(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + REPORT_BYTES_MAX)
}

export function openReportCell<Report extends object>(buffer: SharedArrayBuffer): ReportCell<Report> {
  const header = new Int32Array(buffer, 0, 2)
  const bytes = new Uint8Array(buffer, HEADER_BYTES)
  let known: Readonly<{ state: number; report: Report & Readonly<{ version: number }> }> | null = null
  let written = ''

  /** Report of this state; undefined when it has been replaced meanwhile. */
  function readAt(state: number): (Report & Readonly<{ version: number }>) | undefined {
    const copy = bytes.slice(0, Atomics.load(header, LENGTH))
    if (Atomics.load(header, STATE) !== state) return undefined
    const report: Report = JSON.parse(new TextDecoder().decode(copy))
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
      const text = JSON.stringify(report)
      if (text === written) return
      written = text
      const encoded = new TextEncoder().encode(text)
      assert(encoded.byteLength <= REPORT_BYTES_MAX, `a report of ${encoded.byteLength} bytes`)
      Atomics.add(header, STATE, 1)
      bytes.set(encoded)
      Atomics.store(header, LENGTH, encoded.byteLength)
      Atomics.add(header, STATE, 1)
    },
  }
}
