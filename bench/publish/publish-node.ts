import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { storePath } from '../../src/log/store/store.ts'

/** A service with its door in a separate process, as an operator starts it. */
export type PublishNode = AsyncDisposable &
  Readonly<{
    port: number
    doorPort: number
    token: string
    /** Processor time of all its threads so far, in ms, in steps of the system's clock tick. */
    cpuMs(): number
    /** Bytes that it has written to disks so far. */
    writtenBytes(): number
    walPath: string
    walBytes(): number
  }>

/** Milliseconds of Linux's tick for processor time. */
const TICK_MS = 10

/** Starts `daybook serve` without a rate limit on a data directory, which may be empty. */
export async function startPublishNode(data: string): Promise<PublishNode> {
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  const flags = [
    '--port',
    '0',
    '--publish-port',
    '0',
    '--rate-limit',
    'off',
    '--drain',
    '0',
    '--chain',
    'solana',
    '--development',
  ]
  const child = spawn(process.execPath, [main, 'serve', '--data', data, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [port, doorPort] = await portsOf(child)
  const walPath = `${storePath(data)}-wal`
  return {
    port,
    doorPort,
    token: readFileSync(join(data, 'publish-token'), 'utf8').trim(),
    cpuMs() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    writtenBytes: () =>
      Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${child.pid}/io`, 'utf8'))?.[1]),
    walPath,
    walBytes: () => statSync(walPath, { throwIfNoEntry: false })?.size ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** Ports that the service reports; throws its output when it ends early. */
async function portsOf(child: ChildProcess): Promise<readonly [port: number, doorPort: number]> {
  if (child.stderr === null) throw new Error('the service has no output')
  const said: string[] = []
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line)
    const [port, doorPort] = ['listening', 'publish door'].map((what) =>
      said.map((text) => new RegExp(`${what} on http:\\S+:(\\d+)`).exec(text)?.[1]).find((found) => found),
    )
    if (port === undefined || doorPort === undefined) continue
    child.stderr.resume()
    return [Number(port), Number(doorPort)]
  }
  throw new Error(`the service did not start: ${said.join('\n')}`)
}
