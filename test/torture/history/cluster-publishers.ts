import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../../sim/random.ts'
import type { ClusterNode } from './cluster.ts'
import { contestRequests, type PlannedRequest, type SendPayment } from './contest-drafts.ts'
import type { Acknowledgement, SentDraft, SentRequest } from './history.ts'

/** Time after which a publisher asks another node, or the same one again. */
const ATTEMPT_MS_MAX = 4_000
const BACKOFF_MS_MIN = 40
const BACKOFF_MS_MAX = 400
/** Acknowledged requests that are sent again to a random node. */
const REPEATED = 0.15
/** Requests that go to two nodes at the same time. */
const TWICE = 0.15

type Answer =
  | Readonly<{ is: 'acknowledged'; seqs: readonly number[]; isRepeated: boolean }>
  | Readonly<{ is: 'held' }>
  | Readonly<{ is: 'refused'; status: number; code: string }>
  | Readonly<{ is: 'elsewhere' }>
  | Readonly<{ is: 'unknown' }>

type PublishBody = Readonly<{
  drafts?: readonly Readonly<{ seq: number; status: string }>[]
  code?: string
  detail?: string
}>

type Sent = {
  -readonly [Key in keyof SentRequest]: SentRequest[Key] extends readonly (infer One)[]
    ? One[]
    : SentRequest[Key]
}

/** `kept` and `lost`: requests without a definite answer at first, which were published by then or were not. */
type CountName =
  | 'acks'
  | 'repeats'
  | 'twice'
  | 'fallbacks'
  | 'unknowns'
  | 'elsewhere'
  | 'kept'
  | 'lost'
  | 'held'
  | 'refusals'

/** Publishers of all writers. Each sends one request after another, to its own writer first. */
export type ClusterPublishers = Disposable &
  Readonly<{
    requests: readonly SentRequest[]
    counts: Readonly<Record<CountName, number>>
    /** Last answer of each node that was not definite, for the message of a failure. */
    unsettled: ReadonlyMap<string, string>
    /** Lets each publisher finish its request, and resolves when none is in flight. */
    pause(): Promise<void>
    resume(): void
    /** Rejects as soon as a publisher fails for a reason of its own. */
    failed: Promise<never>
    end(): Promise<void>
  }>

type Settings = Readonly<{
  seed: string
  publishers: number
  nodes: readonly ClusterNode[]
  token: string
  /** Null without a chain. */
  pay: SendPayment | null
  /** Mean pause of a publisher between two requests. */
  paceMs: number
}>

export function openClusterPublishers({
  seed,
  publishers,
  nodes,
  token,
  pay,
  paceMs,
}: Settings): ClusterPublishers {
  const writers = nodes.filter(({ publishUrl }) => publishUrl !== null)
  const requests: Sent[] = []
  const counts: Record<CountName, number> = {
    acks: 0,
    repeats: 0,
    twice: 0,
    fallbacks: 0,
    unknowns: 0,
    elsewhere: 0,
    kept: 0,
    lost: 0,
    held: 0,
    refusals: 0,
  }
  const unsettled = new Map<string, string>()
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let ended = false
  const given = new AbortController()
  let idle = 0
  let wake = (): void => undefined
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(() => undefined)

  const ask = async (node: ClusterNode, drafts: readonly SentDraft[]): Promise<Answer> => {
    try {
      const response = await fetch(`${node.publishUrl}/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(drafts),
        signal: AbortSignal.any([given.signal, AbortSignal.timeout(ATTEMPT_MS_MAX)]),
      })
      const body = (await response.json()) as PublishBody
      const { status } = response
      const { drafts: receipts = [] } = body
      if (status === 200) {
        const words = new Set(receipts.map((receipt) => receipt.status))
        if (words.has('failed') || words.has('dropped')) return { is: 'refused', status, code: 'failed' }
        if (words.has('held')) return { is: 'held' }
        const isRepeated = receipts.every((receipt) => receipt.status === 'duplicate')
        return { is: 'acknowledged', seqs: receipts.map(({ seq }) => seq), isRepeated }
      }
      if (status >= 400 && status < 500 && status !== 429)
        return { is: 'refused', status, code: body.code ?? '' }
      unsettled.set(node.name, `${status} ${body.code}: ${body.detail}`)
      if (body.code === 'not-leading') return { is: 'elsewhere' }
    } catch (error) {
      // Cut, late, or nobody listens.
      unsettled.set(node.name, String(error))
    }
    return { is: 'unknown' }
  }

  /** Sends a request once and notes the outcome. Returns whether it was definite, or that the node does not lead. */
  const attempt = async (request: Sent, node: ClusterNode): Promise<boolean | 'elsewhere'> => {
    const answer = await ask(node, request.drafts)
    if (answer.is === 'elsewhere') {
      counts.elsewhere += 1
      return 'elsewhere'
    }
    if (answer.is === 'unknown') {
      request.unknowns += 1
      counts.unknowns += 1
      return false
    }
    if (answer.is === 'held') {
      counts.held += 1
      request.holds.push(node.name)
    } else if (answer.is === 'refused') {
      counts.refusals += 1
      request.refusals.push({ node: node.name, status: answer.status, code: answer.code })
    } else {
      counts.acks += 1
      if (request.unknowns > 0 && request.acks.length === 0) counts[answer.isRepeated ? 'kept' : 'lost'] += 1
      const ack: Acknowledgement = { node: node.name, seqs: answer.seqs, atMs: performance.now() }
      request.acks.push(ack)
    }
    return true
  }

  const writerAt = (place: number): ClusterNode => writers[place % writers.length] as ClusterNode

  /** Sends some acknowledged requests again, to any node. */
  const repeat = async (request: Sent, random: Random): Promise<void> => {
    if (given.signal.aborted || !random.chance(REPEATED)) return
    counts.repeats += 1
    await attempt(request, writerAt(random.below(writers.length)))
  }

  const send = async (
    planned: PlannedRequest,
    publisher: string,
    home: number,
    random: Random,
  ): Promise<void> => {
    const request: Sent = {
      ...planned,
      drafts: [...planned.drafts],
      publisher,
      firstSentMs: performance.now(),
      acks: [],
      holds: [],
      refusals: [],
      unknowns: 0,
    }
    requests.push(request)
    if (random.chance(TWICE)) {
      counts.twice += 1
      const other = writerAt(home + random.below(writers.length))
      const both = await Promise.all([attempt(request, writerAt(home)), attempt(request, other)])
      if (both.includes(true)) return
    }
    let pointers = 0
    for (let place = home; ; place += 1) {
      const outcome = await attempt(request, writerAt(place))
      if (outcome === true || given.signal.aborted) return await repeat(request, random)
      counts.fallbacks += 1
      pointers += outcome === 'elsewhere' ? 1 : 0
      // A node that does not lead costs no pause, unless all say so.
      if (outcome === 'elsewhere' && pointers % writers.length !== 0) continue
      await sleep(random.between(BACKOFF_MS_MIN, BACKOFF_MS_MAX))
    }
  }

  const run = async (index: number): Promise<void> => {
    const publisher = `p${index}`
    const random = randomOf(`${seed} ${publisher}`)
    for (const planned of contestRequests(publisher, index, random, pay)) {
      idle += 1
      wake()
      await gate.promise
      idle -= 1
      if (ended) return
      await send(planned, publisher, index, random)
      await sleep(random.exponential(paceMs))
    }
  }

  const running = Promise.all(Array.from({ length: publishers }, (_, index) => run(index)))
  running.catch(fail)
  const pause = async (): Promise<void> => {
    gate = Promise.withResolvers<void>()
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = () => {
      if (idle === publishers) resolve()
    }
    wake()
    await Promise.race([promise, failed])
    wake = () => undefined
  }
  return {
    requests,
    counts,
    unsettled,
    pause,
    resume: () => gate.resolve(),
    failed,
    async end() {
      ended = true
      gate.resolve()
      await running
    },
    /** Gives up what is not finished. */
    [Symbol.dispose]() {
      ended = true
      given.abort()
      gate.resolve()
    },
  }
}
