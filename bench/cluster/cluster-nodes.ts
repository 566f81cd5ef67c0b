import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAIN } from '../../test/stage/places.ts'

/** `daybook mirror` as a process. */
type BenchMirror = AsyncDisposable & Readonly<{ url: string; pid: number }>

const READY_MS_MAX = 120_000
const LOOK_MS = 10

/** Starts a mirror without a rate limit. Resolves when it is built and listens. */
export async function startBenchMirror(data: string, origin: string): Promise<BenchMirror> {
  const limits = ['--rate-limit', 'off', '--drain', '0', '--port', '0', '--ops-port', '0']
  const child = spawn(process.execPath, [MAIN, 'mirror', origin, '--data', data, ...limits], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const endMs = performance.now() + READY_MS_MAX
  for (;;) {
    const url = /listening on (http:\S+)/.exec(said)?.[1]
    if (url !== undefined)
      return { url, pid: child.pid ?? 0, [Symbol.asyncDispose]: async () => await ended(child) }
    if (child.exitCode !== null || performance.now() > endMs) {
      await ended(child)
      throw new Error(`the mirror did not start: ${said}`)
    }
    await sleep(LOOK_MS)
  }
}

/** Runs a command of Daybook in a process of its own. Resolves with its output and the seconds that it took. */
export async function runDaybook(
  words: readonly string[],
): Promise<Readonly<{ said: string; seconds: number }>> {
  const began = performance.now()
  const child = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`daybook ${words[0]} ended with ${String(code)}: ${said}`)
  return { said, seconds: (performance.now() - began) / 1_000 }
}

/** Waits until a node serves an event. */
export async function untilServed(url: string, seq: number): Promise<void> {
  const endMs = performance.now() + READY_MS_MAX
  while (performance.now() < endMs) {
    const answer = await fetch(`${url}/api/v1/events/${seq}`).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    await sleep(LOOK_MS)
  }
  throw new Error(`the node does not serve seq ${seq}`)
}

/** Newest seq of a node. */
export async function headOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/status`)
  const { head } = (await answer.json()) as { head: { seq: number } }
  return head.seq
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
  child.kill('SIGTERM')
  await exit
  clearTimeout(late)
}
