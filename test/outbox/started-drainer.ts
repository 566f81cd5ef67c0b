import assert from 'node:assert/strict'
import { startDaybook, type StartedDaybook } from '../stage/started-daybook.ts'

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
  const start = (): StartedDaybook => startDaybook(words, { onStderr: (text) => (said += text) })
  let running = start()
  return {
    async kill() {
      const { code } = await running.end('SIGKILL')
      assert.equal(code, null, `the drainer runs until it is killed:\n${said}`)
      running = start()
    },
    freeze: () => void running.child.kill('SIGSTOP'),
    thaw: () => void running.child.kill('SIGCONT'),
    end: async () => (await running.end('SIGTERM')).code,
    said: () => said,
  }
}
