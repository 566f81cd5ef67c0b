import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

/** System calls to fail, with an error, on some files. */
type Fault = Readonly<{
  calls: string
  error: 'EIO' | 'EDQUOT' | 'ENOSPC' | 'EROFS'
  paths: readonly string[]
}>

/** Makes system calls of a process fail in all its threads, until the result is disposed. */
export async function injectFault(pid: number, fault: Fault): Promise<AsyncDisposable> {
  return await attachTracer(pid, ['-f', '-o', '/dev/null', ...wordsOf(fault)])
}

/** Attaches `strace` to a process until the result is disposed. `said` is all that it has written so far. */
async function attachTracer(
  pid: number,
  words: readonly string[],
): Promise<AsyncDisposable & Readonly<{ said(): string }>> {
  const tracer = spawn('strace', [...words, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(tracer, 'close')
  let said = ''
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  while (!said.includes(' attached')) {
    const what = await Promise.race([once(tracer.stderr, 'data'), closed.then(() => 'closed' as const)])
    if (what === 'closed') throw new Error(`the calls of process ${pid} cannot be followed: ${said}`)
  }
  return {
    said: () => said,
    async [Symbol.asyncDispose]() {
      tracer.kill('SIGINT')
      await closed
    },
  }
}

/** Whether this machine has `strace` and allows it to attach to a process. */
export function canInject(): boolean {
  try {
    execFileSync('strace', ['-f', '-qq', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function wordsOf({ calls, error, paths }: Fault): readonly string[] {
  const files = paths.flatMap((path) => ['-P', path])
  return ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`, ...files]
}
