import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Syncs of a process to its disk. Disposal ends the trace. */
type TracedSyncs = AsyncDisposable &
  Readonly<{
    /** Unix times in milliseconds at which syncs of a file whose path has these words have ended. */
    of(path: string): readonly number[]
  }>

/** Follows `fsync` and `fdatasync` of a process in all its threads, with `strace`. */
export async function traceSyncs(pid: number): Promise<TracedSyncs> {
  const words = ['-f', '-y', '-ttt', '-T', '-e', 'trace=fsync,fdatasync', '-p', String(pid)]
  const tracer = spawn('strace', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(tracer, 'close')
  let said = ''
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  while (!said.includes(' attached')) {
    const what = await Promise.race([once(tracer.stderr, 'data'), closed.then(() => 'closed' as const)])
    if (what === 'closed') throw new Error(`the calls of process ${pid} cannot be followed: ${said}`)
  }
  return {
    of: (path) => endsOf(said, path),
    async [Symbol.asyncDispose]() {
      tracer.kill('SIGINT')
      await closed
    },
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
