import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { MAIN } from './places.ts'

const START_MS_MAX = 60_000
const STOP_MS_MAX = 60_000

/** A service in its own process. Disposal stops it and removes its data directory. */
export type Service = Readonly<{
  /** Public base URL, without a trailing slash. */
  url: string
  /** Base URL of the private listener. */
  door: string
  token: string
  data: string
}> &
  AsyncDisposable

type Finished = Readonly<{ code: number | null; stdout: string; stderr: string }>

/** The environment without `DAYBOOK_` variables, which would change the service. */
function environment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_')))
}

/** Runs a command to its end. */
export async function daybook(...words: readonly string[]): Promise<Finished> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}

const PUBLIC = /listening on (http:\/\/127\.0\.0\.1:\d+)/
const DOOR = /publish door on (http:\/\/127\.0\.0\.1:\d+)/

/** Waits until the process has printed its two URLs. Throws with its output when it ends or is late. */
async function addresses(child: ChildProcess): Promise<Readonly<{ url: string; door: string }>> {
  if (child.stderr === null) throw new Error('the service has no stderr')
  const lines: string[] = []
  let url: string | undefined
  let door: string | undefined
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  try {
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line)
      url ??= PUBLIC.exec(line)?.[1]
      door ??= DOOR.exec(line)?.[1]
      if (url !== undefined && door !== undefined) return { url, door }
    }
  } finally {
    clearTimeout(late)
  }
  throw new Error(`the service did not start:\n${lines.join('\n')}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  child.kill('SIGTERM')
  await closed
  clearTimeout(late)
}

/** Settings of a service: a file of drafts to import first, the chain, and further options of `serve`. */
export type ServiceOptions = Readonly<{
  drafts?: string
  chain?: 'solana' | 'evm' | 'opaque'
  options?: readonly string[]
  /** Key that signs the log; by default the service makes one. */
  signingKey?: SigningKey
}>

/** Imports the drafts into a new data directory and serves it. Disposal stops the service and removes the directory. */
export async function startService({
  drafts,
  chain = 'solana',
  options = ['--rate-limit', 'off'],
  signingKey,
}: ServiceOptions): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-'))
  const clean = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const data = join(folder, 'data')
    const token = 'a-token-of-tests-that-is-long-enough-0123456789'
    const tokenFile = join(folder, 'token')
    await writeFile(tokenFile, `${token}\n`, { mode: 0o600 })
    if (signingKey !== undefined) {
      const pem = signingKey.privateKey.export({ format: 'pem', type: 'pkcs8' })
      await writeFile(`${data}.key`, pem, { mode: 0o600 })
    }
    if (drafts !== undefined) {
      const imported = await daybook('import', drafts, '--data', data, '--chain', chain, '--development')
      if (imported.code !== 0) throw new Error(`the import ended with ${imported.code}:\n${imported.stderr}`)
    }
    const log = ['--data', data, '--chain', chain, '--development']
    const words = ['serve', ...log, '--port', '0', '--publish-port', '0']
    const child = spawn(process.execPath, [MAIN, ...words, '--publish-token-file', tokenFile, ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment(),
    })
    const close = async (): Promise<void> => {
      await stop(child)
      await clean()
    }
    try {
      const { url, door } = await addresses(child)
      // Drains stderr, so that a full pipe never blocks the process.
      child.stderr?.resume()
      return { url, door, token, data, [Symbol.asyncDispose]: close }
    } catch (error) {
      await stop(child)
      throw error
    }
  } catch (error) {
    await clean()
    throw error
  }
}
