import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { spawnTied } from '../../processes/other-program.ts'
import { MAIN } from '../../stage/places.ts'
import type { ClusterFault, ClusterNode, FiredFault } from './cluster.ts'
import type { FaultRelay } from './fault-relay.ts'
import { openFaultRelay } from './fault-relay.ts'
import { relayFaults } from './relay-faults.ts'

const START_MS_MAX = 60_000
const STOP_MS_MAX = 20_000
const SAID_CHARACTERS_MAX = 20_000
const PUBLIC = /listening on (http:\/\/127\.0\.0\.1:\d+)/
const DOOR = /publish door on http:\/\/127\.0\.0\.1:(\d+)/

type Running = Readonly<{
  child: ChildProcess
  closed: Promise<unknown>
  url: string
  doorPort: number | null
}>

/** A node in a process that can be killed, paused and started again, with a relay before its door. */
export type FaultyNode = AsyncDisposable &
  Readonly<{
    node: ClusterNode
    faults: readonly ClusterFault[]
    /** Starts the process again after its end, and waits until it serves. Does nothing while it runs. */
    start(): Promise<void>
    /** Process id; null while it is down. */
    pid(): number | null
    /** Sends SIGTERM, or another signal, and resolves with the exit code. */
    stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
  }>

type Settings = Readonly<{
  name: string
  kind: ClusterNode['kind']
  data: string
  /** Command and options of Daybook. */
  words: readonly string[]
  /** Relays between the node and what it follows: the servers of the engine, or another node. */
  links?: readonly FaultRelay[]
  /** Variables beside those of this process. */
  env?: Readonly<Record<string, string>>
}>

/** Starts a node and waits until it serves. */
export async function startFaultyNode({
  name,
  kind,
  data,
  words,
  links = [],
  env: own = {},
}: Settings): Promise<FaultyNode> {
  let said = ''
  let running: Running | null = null
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('DAYBOOK_'))
  const env = { ...Object.fromEntries(inherited), ...own }

  const start = async (): Promise<void> => {
    if (running !== null && running.child.exitCode === null && running.child.signalCode === null) return
    const child = spawnTied(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'ignore', 'pipe'], env })
    const closed = once(child, 'close')
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
    let text = ''
    const { promise: ready, resolve } = Promise.withResolvers<string>()
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      if (text.length < SAID_CHARACTERS_MAX) text += more
      said = (said + more).slice(-SAID_CHARACTERS_MAX)
      const url = PUBLIC.exec(text)?.[1]
      if (url !== undefined) resolve(url)
    })
    const url = await Promise.race([ready, closed.then(() => undefined)])
    clearTimeout(late)
    assert.ok(url !== undefined, `${name} did not start:\n${said}`)
    const doorPort = DOOR.exec(text)?.[1]
    running = { child, closed, url, doorPort: doorPort === undefined ? null : Number(doorPort) }
  }

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    if (running === null) return null
    const { child, closed } = running
    running = null
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
    child.kill('SIGCONT')
    child.kill(signal)
    await closed
    clearTimeout(late)
    return child.exitCode
  }

  await start()
  const relay = kind === 'writer' ? await openFaultRelay(() => running?.doorPort ?? null) : null
  const node: ClusterNode = {
    name,
    kind,
    data,
    url: () => running?.url ?? null,
    door: relay === null ? null : `http://127.0.0.1:${relay.port}`,
    said: () => said,
  }
  const kill = async (): Promise<FiredFault | null> => {
    if (running === null) return null
    await end('SIGKILL')
    return { heal: start }
  }
  const pause = async (): Promise<FiredFault | null> => {
    const child = running?.child
    if (child?.kill('SIGSTOP') !== true) return null
    return { heal: async () => void child.kill('SIGCONT') }
  }
  return {
    node,
    faults: [
      { name: `kill ${name}`, place: name, fire: kill },
      { name: `pause ${name}`, place: name, fire: pause },
      ...(relay === null ? [] : relayFaults(`door of ${name}`, [relay])),
      ...relayFaults(`link of ${name}`, links),
    ],
    start,
    pid: () => running?.child.pid ?? null,
    stop: (signal = 'SIGTERM') => end(signal),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
      await relay?.[Symbol.asyncDispose]()
    },
  }
}
