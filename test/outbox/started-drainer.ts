import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { MAIN } from '../stage/places.ts'

/** A drainer in a process of its own, started again after each kill. */
export type Drainer = Readonly<{
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Stops it, and returns its exit code. */
  end(): Promise<number | null>
  said(): string
}>

/** Starts `daybook publish --from` with these words. */
export function startDrainer(words: readonly string[]): Drainer {
  let said = ''
  const start = (): ChildProcess => {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_')),
    )
    const started = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'ignore', 'pipe'], env })
    started.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
    return started
  }
  let child = start()
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
    return child.exitCode
  }
  return {
    async kill() {
      assert.equal(await end('SIGKILL'), null, `the drainer runs until it is killed:\n${said}`)
      child = start()
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    end: () => end('SIGTERM'),
    said: () => said,
  }
}
