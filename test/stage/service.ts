import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { startDaybook } from './started-daybook.ts'

/** A service in its own process. Disposal stops it and removes its data directory. */
export type Service = Readonly<{
  /** Public base URL, without a trailing slash. */
  url: string
  /** Base URL of the private listener. */
  publishUrl: string
  token: string
  data: string
}> &
  AsyncDisposable

type Finished = Readonly<{ code: number | null; stdout: string; stderr: string }>

/** Runs a command to its end. */
export async function daybook(...words: readonly string[]): Promise<Finished> {
  const own = startDaybook(words)
  const { code } = await own.ended()
  return { code, stdout: own.stdout(), stderr: own.stderr() }
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
    const own = startDaybook([...words, '--publish-token-file', tokenFile, ...options])
    const { url, publishUrl } = await own.addresses()
    const close = async (): Promise<void> => {
      await own.end('SIGTERM')
      await clean()
    }
    return { url, publishUrl, token, data, [Symbol.asyncDispose]: close }
  } catch (error) {
    await clean()
    throw error
  }
}
