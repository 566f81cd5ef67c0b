import { setTimeout as sleep } from 'node:timers/promises'
import { untilLed, type Writer } from '../../test/cluster/campaign/leader-faults.ts'
import { openFaultRelay } from '../../test/torture/history/fault-relay.ts'
import { startFaultyNode } from '../../test/torture/history/faulty-node.ts'
import { share } from '../stage/measure.ts'
import { table } from '../stage/report.ts'
import { headOf, type TableLog, untilServed } from './table-log.ts'

/** Time that a publisher gives one node, and its pause after a round without success, in ms. */
const ATTEMPT_MS_MAX = 250
const PAUSE_MS = 20
const TAKE_OVER_MS_MAX = 90_000
/** Time between two rounds, in ms. A part of it varies, so that no round keeps step with a timer of a node. */
const SETTLE_MS = 1_000
const VARIED_MS = 1_000
const STEP_MS = 137
const CONTEST = 1

/** The fault of one round. */
type Fired = Readonly<{
  /** Moment of the fault. */
  atMs: number
  /** Door whose answers do not count. Null when the database is hit. */
  hit: string | null
  /** Resolves when nothing of the fault goes on by itself. Moments are in ms after the fault. */
  over: Promise<Readonly<Record<string, number>>>
  heal(): Promise<unknown>
}>

type Fault = Readonly<{ name: string; fire(leader: Writer): Promise<Fired> }>

/** Hits the leader of two nodes, or the primary, and publishes until a node acknowledges. Returns the table of the times. */
export async function measureTakeOver(
  log: TableLog,
  names: readonly string[],
  token: Readonly<{ file: string; text: string }>,
  rounds: number,
  onFault: (name: string) => void,
): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const writers: Writer[] = []
  for (const name of names) writers.push(await startWriter(log, name, token.file, stack))
  const rows: (readonly string[])[] = []
  const notes: string[] = []
  let number = 0
  for (const { name, fire } of faultsOf(log)) {
    onFault(name)
    const times: number[] = []
    const others = new Map<string, number[]>()
    for (let round = 0; round < rounds; round++) {
      number += 1
      const leader = await untilLed(writers)
      await sleep(SETTLE_MS + ((number * STEP_MS) % VARIED_MS))
      const { atMs, hit, over, heal } = await fire(leader)
      const doors = [leader, ...writers.filter((one) => one !== leader)].map(doorOf)
      times.push((await firstAck(doors, hit, token.text, `take-over-${number}`)) - atMs)
      for (const [what, ms] of Object.entries(await over)) others.set(what, [...(others.get(what) ?? []), ms])
      await heal()
      await untilLed(writers)
      const heads = await Promise.all(writers.map((writer) => headOf(urlOf(writer))))
      await Promise.all(writers.map((writer) => untilServed(urlOf(writer), Math.max(...heads))))
    }
    rows.push([name, String(times.length), ...spread(times)])
    for (const [what, ms] of others)
      notes.push(`${what} ${seconds(share(ms, 0.5))} s, ${seconds(Math.max(...ms))} s at the longest`)
  }
  const columns = ['faults', 'shortest s', 'p50 s', 'p90 s', 'longest s']
  const said = notes.length === 0 ? [] : [`Medians after the kill of the primary: ${notes.join('; ')}.`, '']
  return [table(['', ...columns], rows), '', ...said].join('\n')
}

/** Starts a node whose ways to both servers are relays. It ends with the stack. */
async function startWriter(
  log: TableLog,
  name: string,
  tokenFile: string,
  stack: AsyncDisposableStack,
): Promise<Writer> {
  const { servers } = log
  const links = []
  // The servers change their parts, and keep their ports.
  for (const { port } of [servers.primary(), servers.standby()])
    links.push(stack.use(await openFaultRelay(() => port)))
  const hosts = links.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const data = log.dataOf(name)
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile]
  const limits = ['--rate-limit', 'off', '--drain', '0']
  const store = ['--log-store', `postgres://daybook@${hosts}/postgres?sslmode=disable`]
  const words = ['serve', '--data', data, ...ports, ...limits, '--signing-key-file', log.keyFile, ...store]
  return { faulty: stack.use(await startFaultyNode({ name, kind: 'writer', data, words, links })), links }
}

function faultsOf({ servers }: TableLog): readonly Fault[] {
  // A node that has lost the lead leaves it to others for half a minute. A start makes it a follower as any other.
  const restart = async ({ faulty }: Writer): Promise<void> => {
    await faulty.stop()
    await faulty.start()
  }
  const ended = (signal: 'SIGKILL' | 'SIGTERM') => async (leader: Writer) => {
    const atMs = performance.now()
    const over = leader.faulty.stop(signal).then(() => ({}))
    return { atMs, hit: doorOf(leader), over, heal: leader.faulty.start }
  }
  const quiet = Promise.resolve({})
  return [
    { name: 'leader killed (SIGKILL)', fire: ended('SIGKILL') },
    { name: 'leader ended (SIGTERM)', fire: ended('SIGTERM') },
    {
      name: 'leader stopped (SIGSTOP)',
      async fire(leader) {
        const atMs = performance.now()
        process.kill(leader.faulty.pid() ?? 0, 'SIGSTOP')
        const heal = async (): Promise<void> => {
          process.kill(leader.faulty.pid() ?? 0, 'SIGCONT')
          await restart(leader)
        }
        return { atMs, hit: doorOf(leader), over: quiet, heal }
      },
    },
    {
      name: 'leader parted from the database',
      async fire(leader) {
        const atMs = performance.now()
        for (const link of leader.links) link.stall('both')
        const heal = async (): Promise<void> => {
          for (const link of leader.links) link.heal()
          await restart(leader)
        }
        return { atMs, hit: doorOf(leader), over: quiet, heal }
      },
    },
    {
      name: 'primary killed, standby promoted',
      async fire(leader) {
        const atMs = performance.now()
        const promote = async (): Promise<Readonly<Record<string, number>>> => {
          await servers.failOver()
          const promoted = performance.now() - atMs
          await servers.rebuildStandby()
          return {
            'the standby is promoted after': promoted,
            'a new standby is synchronous after': performance.now() - atMs,
          }
        }
        return { atMs, hit: null, over: promote(), heal: () => restart(leader) }
      },
    },
  ]
}

/** Publishes one draft at a time, going round the doors, until one acknowledges. Returns the moment. */
async function firstAck(
  doors: readonly string[],
  hit: string | null,
  token: string,
  name: string,
): Promise<number> {
  const endMs = performance.now() + TAKE_OVER_MS_MAX
  for (let number = 0; performance.now() < endMs;) {
    for (const door of doors) {
      const draft = { ref: `${name}-${number}`, type: 'play', kind: 'vote', contestId: CONTEST, kots: '1.25' }
      const isTaken = await publish(door, token, draft)
      if (isTaken && door !== hit) return performance.now()
      // A node that is told to end may still answer, which says nothing of the other one.
      if (isTaken) number += 1
    }
    await sleep(PAUSE_MS)
  }
  throw new Error(`no node has acknowledged for ${TAKE_OVER_MS_MAX / 1_000} s`)
}

async function publish(door: string, token: string, draft: object): Promise<boolean> {
  try {
    const answer = await fetch(`${door}/publish`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify([draft]),
      signal: AbortSignal.timeout(ATTEMPT_MS_MAX),
    })
    const body = await answer.text()
    if (answer.status >= 400 && answer.status < 500)
      throw new TypeError(`a node has answered ${answer.status}: ${body}`)
    return answer.status === 200
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('a node')) throw error
    return false
  }
}

function doorOf({ faulty }: Writer): string {
  return faulty.node.door ?? ''
}

function urlOf({ faulty }: Writer): string {
  return faulty.node.url() ?? ''
}

function spread(times: readonly number[]): readonly string[] {
  return [0, 0.5, 0.9, 1].map((part) => seconds(share(times, part)))
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2)
}
