import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../processes/other-program.ts'
import type { ClusterFault, FiredFault } from '../../torture/history/cluster.ts'
import type { FaultRelay } from '../../torture/history/fault-relay.ts'
import type { FaultyNode } from '../../torture/history/faulty-node.ts'

const ANSWER_MS_MAX = 1_000
const TAKEOVER_MS_MAX = 60_000
/** Stays stopped for so long after another node leads. */
const STOPPED_MS = 1_000

/** A node that can lead, and its relays to the servers. */
export type Writer = Readonly<{ faulty: FaultyNode; links: readonly FaultRelay[] }>

/** Whether a node takes drafts. */
async function leads({ faulty }: Writer): Promise<boolean> {
  const { publishUrl } = faulty.node
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const answer = await fetch(`${publishUrl}/readyz?for=publish`, { signal })
    await answer.bytes()
    return answer.ok
  } catch {
    return false
  }
}

/** The node that leads now. Null when none does. */
async function leaderOf(writers: readonly Writer[]): Promise<Writer | null> {
  const all = await Promise.all(writers.map(leads))
  return writers.find((_, index) => all[index] === true) ?? null
}

/** The node that leads, as soon as one does. */
export async function untilLed(writers: readonly Writer[]): Promise<Writer> {
  let leader: Writer | null = null
  await until('a node leads', async () => (leader = await leaderOf(writers)) !== null, TAKEOVER_MS_MAX)
  return leader ?? assert.fail('no node leads')
}

/** Faults of whichever node leads, each until another node leads. */
export function leaderFaults(writers: readonly Writer[]): readonly ClusterFault[] {
  const fault = (name: string, begin: (leader: Writer) => Promise<() => Promise<unknown>>): ClusterFault => ({
    name,
    place: 'leader',
    isAlone: true,
    async fire(): Promise<FiredFault> {
      const leader = await untilLed(writers)
      const heal = await begin(leader)
      await untilLed(writers.filter((writer) => writer !== leader))
      return { heal: async () => void (await heal()) }
    },
  })
  const parted = (begin: (relay: FaultRelay) => unknown) => async (leader: Writer) => {
    for (const link of leader.links) begin(link)
    return async () => {
      for (const link of leader.links) link.heal()
    }
  }
  return [
    fault('kill the leader', async ({ faulty }) => {
      await faulty.stop('SIGKILL')
      return faulty.start
    }),
    fault('end the leader', async ({ faulty }) => {
      await faulty.stop()
      return faulty.start
    }),
    fault('stop the leader until another leads', async ({ faulty }) => {
      const pid = faulty.pid()
      if (pid !== null) process.kill(pid, 'SIGSTOP')
      return async () => {
        await sleep(STOPPED_MS)
        if (pid !== null) process.kill(pid, 'SIGCONT')
      }
    }),
    fault(
      'cut the leader from the database',
      parted((link) => link.refuse()),
    ),
    fault(
      'stall the leader and the database',
      parted((link) => link.stall('both')),
    ),
    fault(
      'stall what the leader sends to the database',
      parted((link) => link.stall('out')),
    ),
    fault(
      'stall what the database answers to the leader',
      parted((link) => link.stall('back')),
    ),
  ]
}
