import { type ChildProcess, execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../processes/free-ports.ts'
import { endProgram, spawnTied, until } from '../processes/other-program.ts'
import { litewitnessPath, pathOf } from '../processes/test-needs.ts'

const LITEWITNESS = litewitnessPath()
const AGENT_PROGRAMS = ['ssh-agent', 'ssh-add', 'ssh-keygen'] as const

/** Whether this machine has the programs of a litewitness, and their names, for a test that is skipped without them. */
export const HAS_LITEWITNESS: boolean =
  LITEWITNESS !== undefined && AGENT_PROGRAMS.every((program) => pathOf(program) !== undefined)
export const LITEWITNESS_NEEDED: string = `litewitness 0.9 or newer, ${AGENT_PROGRAMS.join(', ')}`

/** A log that a witness knows: its origin, and the vkeys that may sign for it. */
type KnownLog = Readonly<{ origin: string; vkeys: readonly string[] }>

/** A litewitness as a process of its own. Disposal ends it and removes its files. */
export type Litewitness = AsyncDisposable &
  Readonly<{
    /** Base URL, the same after each start. */
    url: string
    /** Its Ed25519 key, of type 0x04. */
    vkey: string
    /** Its SQLite database, to copy or restore while it is stopped. */
    database: string
    /** Makes a log known; at any time. */
    addLog(log: KnownLog): void
    start(): Promise<void>
    stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  }>

/** Starts a witness with a new key, and waits until it answers. */
export async function startLitewitness(
  name: string = 'litewitness.example/w1',
  logs: readonly KnownLog[] = [],
): Promise<Litewitness> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-litewitness-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const output = openSync(join(folder, 'output'), 'a')
  stack.defer(() => closeSync(output))
  const stdio = ['ignore', output, output] as const
  const { agent, fingerprint } = await startAgent(stack, folder, [...stdio])
  const database = join(folder, 'witness.db')
  const addLog = ({ origin, vkeys }: KnownLog): void => {
    const words = ['-db', database, '-origin', origin]
    control('add-log', ...words)
    for (const vkey of vkeys) control('add-key', ...words, '-key', vkey)
  }
  for (const log of logs) addLog(log)

  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | null = null
  let vkey = ''
  const stop: Litewitness['stop'] = async (signal = 'SIGTERM') => {
    const ending = child
    child = null
    if (ending !== null) await endProgram(ending, signal)
  }
  const start = async (): Promise<void> => {
    const signing = ['-key', fingerprint, '-ssh-agent', agent, '-name', name]
    const words = [...signing, '-db', database, '-listen', `127.0.0.1:${port}`]
    child = spawnTied(LITEWITNESS ?? '', words, { stdio: [...stdio] })
    await until('litewitness shows its key', async () => {
      const page = await (await fetch(url)).text()
      vkey = page.split('\n').find((line) => line.startsWith(`${name}+`)) ?? ''
      return vkey !== ''
    }).catch((cause: unknown) => {
      throw new Error(`litewitness did not start:\n${readFileSync(join(folder, 'output'), 'utf8')}`, {
        cause,
      })
    })
  }
  stack.defer(stop)
  await start()
  const kept = stack.move()
  return { url, vkey, database, addLog, start, stop, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Starts an agent that holds a new Ed25519 key. */
async function startAgent(
  stack: AsyncDisposableStack,
  folder: string,
  stdio: ('ignore' | number)[],
): Promise<Readonly<{ agent: string; fingerprint: string }>> {
  const [agent, key] = [join(folder, 'agent'), join(folder, 'key')]
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
  const [, fingerprint = ''] = execFileSync('ssh-keygen', ['-l', '-f', key], { encoding: 'utf8' }).split(' ')
  const child = spawnTied('ssh-agent', ['-D', '-a', agent], { stdio })
  stack.defer(() => endProgram(child, 'SIGKILL'))
  const env = { ...process.env, SSH_AUTH_SOCK: agent }
  await until('the agent takes the key', async () => {
    execFileSync('ssh-add', ['-q', key], { env, stdio })
    return true
  })
  return { agent, fingerprint }
}

/** Path of another program of torchwood. */
export function torchwoodProgram(name: string): string {
  return join(dirname(LITEWITNESS ?? ''), name)
}

function control(...words: readonly string[]): void {
  execFileSync(torchwoodProgram('witnessctl'), words, { stdio: 'pipe' })
}
