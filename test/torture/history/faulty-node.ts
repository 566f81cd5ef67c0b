import { isRunning } from '../../processes/other-program.ts'
import { plainEnvironment, startDaybook, type StartedDaybook } from '../../stage/started-daybook.ts'
import type { ClusterFault, ClusterNode, FiredFault } from './cluster.ts'
import { type FaultRelay, openFaultRelay } from './fault-relay.ts'
import { relayFaults } from './relay-faults.ts'

const SAID_CHARACTERS_MAX = 20_000
const PUBLIC = /listening on (http:\/\/127\.0\.0\.1:\d+)/
const PUBLISH_API = /publish API on http:\/\/127\.0\.0\.1:(\d+)/

type Running = Readonly<{
  daybook: StartedDaybook
  url: string
  publishPort: number | null
}>

/** A node in a process that can be killed, paused and started again, with a relay before its publish API. */
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
  const start = async (): Promise<void> => {
    if (running !== null && isRunning(running.daybook.child)) return
    const daybook = startDaybook(words, {
      env: { ...plainEnvironment(), ...own },
      onStderr: (text) => (said = (said + text).slice(-SAID_CHARACTERS_MAX)),
    })
    const [, url = ''] = await daybook.says(PUBLIC)
    const publishPort = PUBLISH_API.exec(daybook.stderr())?.[1]
    running = { daybook, url, publishPort: publishPort === undefined ? null : Number(publishPort) }
  }

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    const daybook = running?.daybook
    running = null
    return daybook === undefined ? null : (await daybook.end(signal)).code
  }

  await start()
  const relay = kind === 'writer' ? await openFaultRelay(() => running?.publishPort ?? null) : null
  const node: ClusterNode = {
    name,
    kind,
    data,
    url: () => running?.url ?? null,
    publishUrl: relay === null ? null : `http://127.0.0.1:${relay.port}`,
    said: () => said,
  }
  const kill = async (): Promise<FiredFault | null> => {
    if (running === null) return null
    await end('SIGKILL')
    return { heal: start }
  }
  const pause = async (): Promise<FiredFault | null> => {
    const child = running?.daybook.child
    if (child?.kill('SIGSTOP') !== true) return null
    return { heal: async () => void child.kill('SIGCONT') }
  }
  return {
    node,
    faults: [
      { name: `kill ${name}`, place: name, fire: kill },
      { name: `pause ${name}`, place: name, fire: pause },
      ...(relay === null ? [] : relayFaults(`publish API of ${name}`, [relay])),
      ...relayFaults(`link of ${name}`, links),
    ],
    start,
    pid: () => running?.daybook.child.pid ?? null,
    stop: (signal = 'SIGTERM') => end(signal),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
      await relay?.[Symbol.asyncDispose]()
    },
  }
}
