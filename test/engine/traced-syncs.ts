import { attachTracer } from './fault-injection.ts'

/** Syncs of a process to its disk. Disposal ends the trace. */
type TracedSyncs = AsyncDisposable &
  Readonly<{
    /** Unix times in milliseconds at which syncs of a file whose path has these words have ended. */
    of(path: string): readonly number[]
  }>

/** Follows `fsync` and `fdatasync` of a process in all its threads, with `strace`. */
export async function traceSyncs(pid: number): Promise<TracedSyncs> {
  const tracer = await attachTracer(pid, ['-f', '-y', '-ttt', '-T', '-e', 'trace=fsync,fdatasync'])
  return {
    of: (path) => endsOf(tracer.said(), path),
    [Symbol.asyncDispose]: () => Promise.resolve(tracer[Symbol.asyncDispose]()),
  }
}

/** A call that another thread interrupts has two lines: the first one names the file, and the second one its result. */
function endsOf(said: string, path: string): readonly number[] {
  const ends: number[] = []
  const open = new Set<string>()
  for (const line of said.split('\n')) {
    const [, thread = '', time, rest = ''] = /^(?:\[pid +(\d+)\] )?(\d+\.\d+) (.*)$/.exec(line) ?? []
    if (/^f(?:data)?sync\(/.test(rest) && rest.includes(path) && rest.includes('unfinished')) open.add(thread)
    const isEnd = rest.includes('resumed>')
      ? open.delete(thread)
      : /^f(?:data)?sync\(/.test(rest) && rest.includes(path)
    const took = / = 0 <([\d.]+)>$/.exec(rest)?.[1]
    // The time of a resumed line is that of its end.
    if (isEnd && took !== undefined)
      ends.push(1_000 * (Number(time) + (rest.includes('resumed>') ? 0 : Number(took))))
  }
  return ends
}
