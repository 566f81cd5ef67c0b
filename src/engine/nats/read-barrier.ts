import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { EngineError } from '../log-engine.ts'
import type { RaftGroup, StreamReplica } from './broker-replies.ts'
import { askBrokers, JSZ, RAFTZ, streamIn } from './broker-replies.ts'

const BARRIER_MS_MAX = 4_000
const RETRY_MS = 5
/** Wait for another replica, once one has answered. */
const STALL_MS = 30

/** A replica, with the id of its broker. */
type RaftMember = RaftGroup & Readonly<{ broker: string }>

/** A stream of an account, and the name of its Raft group. */
export type StreamGroup = Readonly<{ account: string; stream: string; group: string }>

/** A majority of the replicas answers, and has no leader yet: another broker would know no more. */
export class NoLeaderError extends EngineError {
  override readonly name = 'NoLeaderError'
}

/**
 * Newest place of a stream: a read barrier. Throws an `EngineError` when no quorum confirms it in `BARRIER_MS_MAX`.
 *
 * Nothing that a leader says alone is a barrier. A leader that was paused or cut off goes on answering until it notices,
 * about ten seconds, while another one appends. The age of its contacts (`active`) proves nothing: acknowledgements that
 * waited in a socket look new when they are read, and heartbeats carry no token of the question. So the barrier is a
 * read of a quorum, from the replicas themselves:
 *
 * 1. Ask every replica for the newest index of its Raft log (`pindex`). Wait for a majority. The highest of them, P, is at
 *    or above each entry that was committed before the question: such an entry is in the logs of a majority, each two
 *    majorities share a replica, and a replica never removes a committed entry.
 * 2. Find a leader that has applied up to P. Applied entries are committed, so they are the same on each replica. What it
 *    has stored includes each message that was acknowledged, or shown by a read, before the question.
 * 3. Then ask that broker for its newest sequence. A leader that is deposed meanwhile does no harm: its stored messages
 *    are committed, and step 2 has shown that they are enough.
 *
 * P may include an entry that was never acknowledged, which only delays the answer. When such an entry is lost in an
 * election, a later round yields a lower P. Each round alone is valid, so the lowest P counts.
 */
export async function readBarrier(
  nats: NatsConnection,
  of: StreamGroup,
  onLeader: (leader: RaftMember) => void,
): Promise<number> {
  const limit = AbortSignal.timeout(BARRIER_MS_MAX)
  let index = Infinity
  for (;;) {
    const members: RaftMember[] = []
    let leader: RaftMember | undefined
    const question = { account: of.account, group: of.group }
    await askBrokers(nats, RAFTZ, question, { stallMs: STALL_MS }, ({ broker, said }) => {
      const group = said?.[of.account]?.[of.group]
      if (group === undefined || group.observer) return false
      members.push({ ...group, broker: broker.id })
      if (!isMajority(members)) return false
      index = Math.min(index, Math.max(...members.map(({ pindex }) => pindex)))
      leader = leaderOf(members, index)
      return leader !== undefined || members.length === group.size
    })
    if (leader !== undefined) {
      onLeader(leader)
      return await storedLast(nats, of, leader.broker)
    }
    if (limit.aborted) {
      const what = `no quorum of the brokers confirms the end of ${of.stream}`
      if (isMajority(members))
        throw new NoLeaderError(`${what}: the replicas have no leader that is up to date`)
      throw new EngineError(`${what}: no majority of the replicas answers`)
    }
    await sleep(RETRY_MS)
  }
}

/** Whether the replicas are more than half of their group. */
function isMajority(members: readonly RaftMember[]): boolean {
  const size = Math.max(...members.map((one) => one.size))
  return new Set(members.map(({ id }) => id)).size > size / 2
}

function leaderOf(members: readonly RaftMember[], index: number): RaftMember | undefined {
  return members
    .filter(({ state, applied }) => state === 'LEADER' && applied >= index)
    .toSorted((one, other) => other.term - one.term)[0]
}

async function storedLast(nats: NatsConnection, of: StreamGroup, broker: string): Promise<number> {
  let found: StreamReplica | undefined
  const question = { account: of.account, streams: true }
  await askBrokers(nats, JSZ, question, { who: broker, stallMs: STALL_MS }, ({ said }) => {
    found = streamIn(said, of.account, of.stream)
    return true
  })
  if (found === undefined) throw new EngineError(`the leader of ${of.stream} does not show it`)
  return found.state.last_seq
}
