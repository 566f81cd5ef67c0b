import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createInterface } from 'node:readline'

/** A service in a separate process, as an operator starts it, and a client with one kept connection. */
export type BenchService = AsyncDisposable &
  Readonly<{
    /** Milliseconds from the start of the process to the end of its first answer. */
    firstAnswerMs: number
    pid: number
    port: number
    /** Reads a whole answer; rejects unless the status is 200. */
    ask(url: string): Promise<Buffer>
    memory(): Memory | null
  }>

/** Memory of a process in MiB, and MiB that it has read by system calls. Linux only. */
export type Memory = Readonly<{ own: number; mapped: number; readMiB: number }>

/** Time limit of a stop. A late service is still busy. */
const STOP_MS_MAX = 5_000

/** Starts `daybook serve` on a data directory, by default without a rate limit and with one worker. */
export async function startBenchService(data: string, rateLimit = 'off', workers = 1): Promise<BenchService> {
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  const ports = ['--port', '0', '--publish-port', '0']
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [
      main,
      'serve',
      '--data',
      data,
      ...ports,
      '--rate-limit',
      rateLimit,
      '--workers',
      `${workers}`,
      '--drain',
      '0',
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const base = await addressOf(child)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (url: string): Promise<Buffer> => take(`${base}${url}`, agent)
  await ask('/api/v1/summary')
  return {
    firstAnswerMs: performance.now() - began,
    pid: child.pid ?? 0,
    port: Number(new URL(base).port),
    ask,
    memory: () => memoryOf(child),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      if (child.exitCode !== null || child.signalCode !== null) return
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
      child.kill('SIGTERM')
      await once(child, 'exit')
      clearTimeout(late)
    },
  }
}

/** The address that the service reports; throws its output when it ends early. */
async function addressOf(child: ChildProcess): Promise<string> {
  const said: string[] = []
  if (child.stderr === null) throw new Error('the service has no output')
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /listening on (http:\S+)/.exec(line)?.[1]
    if (address !== undefined) {
      child.stderr.resume()
      return address
    }
    said.push(line)
  }
  throw new Error(`the service did not start: ${said.join('\n')}`)
}

function take(url: string, agent: Agent): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const body = Buffer.concat(chunks)
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(`${url}: ${response.statusCode} ${body.toString()}`))
      })
    }).on('error', reject)
  })
}

function memoryOf({ pid }: ChildProcess): Memory | null {
  if (!existsSync(`/proc/${pid}/status`)) return null
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0)
  const read = /rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
  return { own: kib('RssAnon') / 1024, mapped: kib('RssFile') / 1024, readMiB: Number(read) / 2 ** 20 }
}
