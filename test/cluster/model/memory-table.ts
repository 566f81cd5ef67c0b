import {
  APPEND_MS_MAX,
  type AppendAnswer,
  type LeadSession,
  type LogTable,
  type Look,
  TableError,
} from '../../../src/cluster/table/log-table.ts'
import { type Backend, type MemoryServer, openMemoryServer, type ServerParts } from './memory-server.ts'

/** Faults of the network between nodes and database. Probabilities from 0 to 1, durations in milliseconds. */
type TableFaults = Readonly<{
  /** Longest way of a question or an answer. */
  delayMs: number
  lostRequest: number
  lostAnswer: number
  /** Share of the requests that arrive later than the caller waits, and the longest delay of one. */
  late: number
  lateMs: number
}>

export const NO_FAULTS: TableFaults = { delayMs: 5, lostRequest: 0, lostAnswer: 0, late: 0, lateMs: 0 }
export const MANY_FAULTS: TableFaults = {
  delayMs: 400,
  lostRequest: 0.05,
  lostAnswer: 0.1,
  late: 0.1,
  lateMs: 9_000,
}

/** The network and the machine of one node. */
export type ModelLink = Readonly<{
  table: LogTable
  /** Loses everything that is sent from now on, until `heal`. */
  cut(): void
  heal(): void
  /** Stops the process for so long, as SIGSTOP does: it sends nothing, and hears later what was answered. */
  pause(ms: number): void
  /** Rings only when the process runs. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}>

/** A database in memory, and the network before it. */
export type MemoryTable = Pick<
  MemoryServer,
  'rows' | 'replace' | 'setStandby' | 'releaseWaits' | 'failover' | 'loseTail' | 'setPooled' | 'endSessions'
> &
  Readonly<{
    connect(): ModelLink
    setFaults(faults: TableFaults): void
    /** Milliseconds that the clock of the database is ahead. */
    setClockOffset(ms: number): void
  }>

const ANSWER_MS = 2_000
const BEAT_MS = 1_000

type Network = ServerParts & { server: MemoryServer; faults: TableFaults; offsetMs: number; nonces: number }

export function openMemoryTable(parts: ServerParts): MemoryTable {
  const server = openMemoryServer(parts)
  const network: Network = { ...parts, server, faults: NO_FAULTS, offsetMs: 0, nonces: 0 }
  return {
    ...server,
    connect: () => connect(network),
    setFaults: (faults) => void (network.faults = faults),
    setClockOffset: (ms) => void (network.offsetMs = ms),
  }
}

/** One connected process. */
type Wire = {
  readonly network: Network
  isCut: boolean
  isClosed: boolean
  pausedUntilMs: number
}

function connect(network: Network): ModelLink {
  const { clock, server } = network
  const wire: Wire = { network, isCut: false, isClosed: false, pausedUntilMs: 0 }
  return {
    table: {
      look: (from, bytesMax, applied) => ask(wire, ANSWER_MS, () => look(wire, { from, bytesMax, applied })),
      lead: () => lead(wire),
      async [Symbol.asyncDispose]() {
        wire.isClosed = true
        server.show(wire, null)
      },
    },
    cut() {
      wire.isCut = true
      server.show(wire, null)
    },
    heal: () => void (wire.isCut = false),
    pause: (ms) => void (wire.pausedUntilMs = Math.max(wire.pausedUntilMs, clock.now() + ms)),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal)
      await awake(wire)
    },
  }
}

/** A question that arrives after the end of its connection shows no place. */
function look(wire: Wire, asked: Parameters<MemoryServer['look']>[1]): Look {
  const { server } = wire.network
  const answer = server.look(wire, asked)
  if (wire.isCut || wire.isClosed) server.show(wire, null)
  return answer
}

async function awake({ network: { clock }, ...wire }: Wire): Promise<void> {
  for (let ms = wire.pausedUntilMs - clock.now(); ms > 0; ms = wire.pausedUntilMs - clock.now())
    await clock.sleep(ms)
}

/** Asks, with the faults of the network. Throws a `TableError` when there is no answer after so many milliseconds. */
async function ask<Answer>(
  wire: Wire,
  msMax: number,
  question: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const { clock } = wire.network
  await awake(wire)
  const limit = new AbortController()
  const late = clock.sleep(msMax, limit.signal).then(
    () => ({ error: new TableError('the database does not answer') }),
    () => NEVER,
  )
  const answer = await Promise.race([travel(wire, question), late])
  limit.abort()
  await awake(wire)
  if ('error' in answer) throw answer.error
  return answer.value
}

const NEVER = new Promise<never>(() => undefined)

async function travel<Answer>(
  wire: Wire,
  question: () => Answer | Promise<Answer>,
): Promise<Readonly<{ value: Answer } | { error: unknown }>> {
  const { clock, faults, random } = wire.network
  const happens = (probability: number): boolean => probability > 0 && random.next() < probability
  if (wire.isCut || happens(faults.lostRequest)) return await NEVER
  await clock.sleep(happens(faults.late) ? faults.lateMs * random.next() : faults.delayMs * random.next())
  try {
    const value = await question()
    await clock.sleep(faults.delayMs * random.next())
    return wire.isCut || happens(faults.lostAnswer) ? await NEVER : { value }
  } catch (error) {
    await clock.sleep(faults.delayMs * random.next())
    return { error }
  }
}

async function lead(wire: Wire): Promise<LeadSession | null> {
  const { network } = wire
  const { server } = network
  const own = server.newBackend()
  const timeline = server.timeline()
  network.nonces += 1
  const nonce = network.nonces
  try {
    const backend = await ask(wire, ANSWER_MS, () => server.takeLock(own, nonce))
    return backend === null ? null : openSession({ wire, backend, nonce, timeline })
  } catch (error) {
    // The connection is closed, and what was asked for ends with it.
    server.end(own)
    throw error
  }
}

type SessionParts = Readonly<{ wire: Wire; backend: Backend; nonce: number; timeline: number }>

function openSession({ wire, backend, nonce, timeline }: SessionParts): LeadSession {
  const { network } = wire
  const { clock, server } = network
  const lost = Promise.withResolvers<void>()
  const session = { isOpen: true }

  function close(): void {
    if (!session.isOpen) return
    session.isOpen = false
    lost.resolve()
    const { faults } = network
    // Requests arrive before the end of their connection. The end of a cut one is noticed by its silence.
    if (!wire.isCut) void clock.sleep(faults.lateMs + faults.delayMs).then(() => server.end(backend))
  }

  /** Asks in this session. Anything but an answer ends it. */
  async function askHere<Answer>(msMax: number, question: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      if (!session.isOpen) throw new TableError('the session is closed')
      return await ask(wire, msMax, () => {
        if (!server.isAlive(backend) || timeline !== server.timeline())
          throw new TableError('the session has ended')
        backend.heardMs = clock.now()
        return question()
      })
    } catch (error) {
      close()
      throw error
    }
  }

  /** Behind a pooler, another node may have taken the lock in the same backend. */
  function assertFence(): void {
    if (backend.nonce !== nonce) throw new TableError('another node has taken over')
  }

  async function beat(): Promise<void> {
    while (session.isOpen) {
      await clock.sleep(BEAT_MS)
      await awake(wire)
      if (session.isOpen) await askHere(ANSWER_MS, assertFence).catch(() => undefined)
    }
  }

  void beat()
  return {
    look: (from, bytesMax, applied) => askHere(ANSWER_MS, () => look(wire, { from, bytesMax, applied })),
    barrier: () => askHere(APPEND_MS_MAX, () => server.barrier() ?? assertConfirmed()),
    async append(place, bytes): Promise<AppendAnswer> {
      const insertion = askHere(APPEND_MS_MAX, async () => {
        const isFlushed = await server.insert(backend, nonce, { place, bytes: bytes.slice() })
        if (isFlushed === undefined) return 'refused'
        if (!wire.isCut && !wire.isClosed) server.show(wire, place)
        return isFlushed ? 'appended' : 'unknown'
      })
      return await insertion.catch(() => 'unknown' as const)
    },
    clockOffset: () => askHere(ANSWER_MS, () => ({ offsetMs: network.offsetMs, errorMs: 1 })),
    lost: lost.promise,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}

function assertConfirmed(): never {
  throw new TableError('no standby confirms the newest commit')
}
