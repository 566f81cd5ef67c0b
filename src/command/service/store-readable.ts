import type { LogReader } from '../../log/store/reader.ts'

/** Whether the store can be read: the newest event is read from it. */
export function isReadable(reader: LogReader): boolean {
  try {
    return reader.snapshot(({ head, line }) => head.seq === 0 || line(head.seq) !== undefined)
  } catch {
    return false
  }
}
