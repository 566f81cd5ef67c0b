import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A process that leads a table. */
type LockHolder = AsyncDisposable &
  Readonly<{
    child: ChildProcessWithoutNullStreams
    /** The next line of its output that begins so. */
    line(start: string): Promise<string>
  }>

/** Starts a process that leads the table at an address. */
export function startHolder(url: string): LockHolder {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holding-program.ts'), url])
  const ended = once(child, 'exit')
  child.stderr.pipe(process.stderr)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async line(start) {
      for (;;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error('the process has ended')
        if (value.startsWith(start)) return value
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
