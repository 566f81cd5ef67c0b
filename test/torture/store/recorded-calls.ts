/** A call that changed a file or a name below the recorded folder, or an answer that was sent meanwhile. */
export type RecordedCall = Readonly<{
  call: string
  /** Byte at which a write begins, or size of a truncated file. */
  offset: number
  /** Path below the folder; `.` for the folder itself. */
  path: string
  /** New name of a rename or a link; empty for other calls. */
  target: string
  /** Bytes of a write or an answer. */
  bytes: Uint8Array
}>

const LINE_END = 10

/** Reads a trace: lines "CALL OFFSET LENGTH PATH [TARGET]", each with the LENGTH bytes of a write or an answer after it. */
export function recordedCalls(trace: Uint8Array): readonly RecordedCall[] {
  const calls: RecordedCall[] = []
  const decoder = new TextDecoder()
  for (let at = 0; at < trace.length;) {
    const end = trace.indexOf(LINE_END, at)
    const line = decoder.decode(trace.subarray(at, end))
    const [call = '', offset, length, path = '', target = ''] = line.split(' ')
    if (end < 0 || path === '') throw new Error(`the trace has no call at byte ${at}: ${line.slice(0, 80)}`)
    at = end + 1 + Number(length)
    // A pipe or socket, whose descriptor was that of a file before, has no offset.
    if (Number(offset) < 0) continue
    calls.push({ call, offset: Number(offset), path, target, bytes: trace.subarray(end + 1, at) })
  }
  return calls
}
