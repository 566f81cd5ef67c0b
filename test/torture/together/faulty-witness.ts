import assert from 'node:assert/strict'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../processes/free-ports.ts'
import { startDaybook, type StartedDaybook } from '../../stage/started-daybook.ts'

const SAID_CHARACTERS = 2_000

/** A witness of any author, in a process of its own. */
export type FaultyWitness = AsyncDisposable &
  Readonly<{
    name: string
    url: string
    vkeys: readonly string[]
    kill(): Promise<void>
    start(): Promise<void>
    /** Keeps a copy of its state, to restore later. It must not run. */
    keep(): void
    /** Starts it with the state that was kept. Resolves with whether it refused that, and started with its own. */
    restore(): Promise<'refused' | 'restored'>
    /** Sends SIGTERM. Resolves with the exit code. */
    end(): Promise<number | null>
  }>

/** Starts `daybook witness` for a log. It makes its keys. */
export async function startOwnWitness(folder: string, name: string, logVkey: string): Promise<FaultyWitness> {
  const data = join(folder, name.replaceAll('/', '-'))
  const [kept, aside] = [`${data}.kept`, `${data}.aside`]
  const port = await freePort()
  const ports = ['--port', String(port), '--ops-port', '0']
  const words = ['witness', '--data', data, '--name', name, '--log', logVkey, '--log-rate', '6000', ...ports]
  let running: StartedDaybook | null = null
  let said = ''
  /** Resolves with whether it serves. It ends at once when it does not. */
  const tryStart = async (): Promise<boolean> => {
    const own = startDaybook(words, {
      onStderr: (text) => (said = (said + text).slice(-SAID_CHARACTERS * 10)),
    })
    const does = await own.says(/"fact":"witnessing"/).then(
      () => true,
      () => false,
    )
    if (does) running = own
    return does
  }
  const start = async (): Promise<void> =>
    assert.ok(await tryStart(), `${name} did not start:\n${said.slice(-SAID_CHARACTERS)}`)
  const stop = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    const own = running
    running = null
    return own === null ? null : (await own.end(signal)).code
  }
  await start()
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    vkeys: [...said.matchAll(/"words":"(witness\S+?)"/g)].map(([, vkey = '']) => vkey),
    kill: async () => void (await stop('SIGKILL')),
    start,
    keep() {
      rmSync(kept, { recursive: true, force: true })
      cpSync(data, kept, { recursive: true })
    },
    async restore() {
      renameSync(data, aside)
      renameSync(kept, data)
      if (await tryStart()) return 'restored'
      rmSync(data, { recursive: true })
      renameSync(aside, data)
      await start()
      return 'refused'
    },
    end: () => stop('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  }
}
