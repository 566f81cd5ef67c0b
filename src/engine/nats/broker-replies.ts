import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { z } from 'zod'
import { EngineError } from '../log-engine.ts'
import { brokerSubject, USER_SUBJECT } from './nats-names.ts'
import { askForMany } from './ask-for-many.ts'

/** A broker, in each of its answers. `time` is its clock. */
type Broker = Readonly<{ name: string; id: string; time: string }>

/** State of one replica in its Raft group. */
export type RaftGroup = Readonly<{
  /** Id of the replica. */
  id: string
  state: string
  /** Replicas of the group. */
  size: number
  observer: boolean
  /** Newest index that it has applied, and newest one in its log. */
  applied: number
  pindex: number
  term: number
}>

/** A replica of a stream, in the answer of its broker. */
export type StreamReplica = Readonly<{
  name: string
  config: Readonly<Record<string, unknown>>
  /** `raft_group` is absent when the stream has one replica. */
  cluster?: Readonly<{ raft_group?: string | undefined }> | undefined
  state: Readonly<{ messages: number; first_seq: number; last_seq: number; num_deleted: number }>
}>

/** Streams of accounts. */
type StreamList = Readonly<{
  account_details?:
    | readonly Readonly<{ name: string; stream_detail?: readonly StreamReplica[] | null | undefined }>[]
    | null
    | undefined
}>

/** Settings of a broker, in its answer. */
export type BrokerSettings = Readonly<{
  version: string
  max_payload: number
  tls_required: boolean
  cluster: Readonly<{ addr: string; tls_required: boolean }>
  /** Absent when the broker has no JetStream. */
  jetstream: Readonly<{ config?: Readonly<{ sync_always: boolean }> | undefined }>
}>

/** A request that every broker answers about itself, and the form of its answer. */
type BrokerQuestion<T> = Readonly<{ name: 'RAFTZ' | 'JSZ' | 'VARZ'; answer: z.ZodType<T> }>

/** State of the Raft groups of an account, by account and group. */
export const RAFTZ: BrokerQuestion<
  Readonly<Record<string, Readonly<Record<string, RaftGroup>>>> | null | undefined
> = {
  name: 'RAFTZ',
  answer: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          id: z.string(),
          state: z.string(),
          size: z.number(),
          observer: z.boolean().default(false),
          applied: z.number(),
          pindex: z.number(),
          term: z.number(),
        }),
      ),
    )
    .nullish(),
}

const streamReplica: z.ZodType<StreamReplica> = z.object({
  name: z.string(),
  config: z.record(z.string(), z.unknown()).default({}),
  cluster: z.object({ raft_group: z.string().optional() }).optional(),
  state: z.object({
    messages: z.number(),
    first_seq: z.number(),
    last_seq: z.number(),
    num_deleted: z.number().default(0),
  }),
})

/** The streams of an account. */
export const JSZ: BrokerQuestion<StreamList> = {
  name: 'JSZ',
  answer: z.object({
    account_details: z
      .array(z.object({ name: z.string(), stream_detail: z.array(streamReplica).nullish() }))
      .nullish(),
  }),
}

/** Settings of a broker. */
export const VARZ: BrokerQuestion<BrokerSettings> = {
  name: 'VARZ',
  answer: z.object({
    version: z.string(),
    max_payload: z.number(),
    tls_required: z.boolean().default(false),
    cluster: z
      .object({ addr: z.string().default(''), tls_required: z.boolean().default(false) })
      .default({ addr: '', tls_required: false }),
    jetstream: z
      .object({ config: z.object({ sync_always: z.boolean().default(false) }).optional() })
      .default({}),
  }),
}

/** The answer of one broker. */
type BrokerReply<T> = Readonly<{ broker: Broker; said: T }>

const broker: z.ZodType<Broker> = z.object({ name: z.string(), id: z.string(), time: z.string() })

/** The stream in the answer of a broker; undefined when the broker has no replica of it. */
export function streamIn(said: StreamList, account: string, stream: string): StreamReplica | undefined {
  const details = said.account_details?.find(({ name }) => name === account)?.stream_detail
  return details?.find(({ name }) => name === stream)
}

const ANSWER_MS_MAX = 1_500

/** Name of the asked broker (`PING` for all), and wait for another answer once one has come. */
type Audience = Readonly<{ who?: string; stallMs: number }>

/**
 * Asks brokers, and calls `onReply` with each answer until it returns true, or the others stay silent. A broker that
 * answers twice counts once. Throws an `EngineError` when none answers.
 */
export async function askBrokers<T>(
  nats: NatsConnection,
  question: BrokerQuestion<T>,
  options: Readonly<Record<string, unknown>>,
  { who = 'PING', stallMs }: Audience,
  onReply: (reply: BrokerReply<T>) => boolean,
): Promise<void> {
  const seen = new Set<string>()
  let stall: ReturnType<typeof setTimeout> | undefined
  try {
    await askForMany(
      nats,
      brokerSubject(who, question.name),
      JSON.stringify(options),
      ANSWER_MS_MAX,
      (message, end) => {
        const reply = replyOf(question, message)
        if (seen.has(reply.broker.id)) return
        seen.add(reply.broker.id)
        clearTimeout(stall)
        stall = setTimeout(end, stallMs)
        if (onReply(reply)) end()
      },
    )
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError(`the brokers cannot be asked (${question.name})`, { cause })
  } finally {
    clearTimeout(stall)
  }
}

function replyOf<T>({ name, answer }: BrokerQuestion<T>, message: Msg): BrokerReply<T> {
  if (message.headers?.code === 503) {
    throw new EngineError(
      `no broker answers ${name}: export it from the system account, and import it in the account of the log, as docs/clusters.md shows`,
    )
  }
  const read = z.object({ server: broker, data: z.unknown() }).safeParse(message.json())
  const said = answer.safeParse(read.data?.data)
  if (!read.success || !said.success) throw new EngineError(`an answer of a broker cannot be read (${name})`)
  return { broker: read.data.server, said: said.data }
}

type Permission = Readonly<{
  allow?: readonly string[] | null | undefined
  deny?: readonly string[] | null | undefined
}>

/** The user of the connection: its account and its permissions. Without permissions it may do everything. */
export type RunningUser = Readonly<{
  account: string
  permissions?:
    | Readonly<{
        publish?: Permission | null | undefined
        subscribe?: Permission | null | undefined
        responses?: unknown
      }>
    | null
    | undefined
}>

const permission: z.ZodType<Permission | null | undefined> = z
  .object({ allow: z.array(z.string()).nullish(), deny: z.array(z.string()).nullish() })
  .nullish()

const running: z.ZodType<Readonly<{ data: RunningUser }>> = z.object({
  data: z.object({
    account: z.string(),
    permissions: z
      .object({ publish: permission, subscribe: permission, responses: z.unknown().optional() })
      .nullish(),
  }),
})

/** Asks who the user of the connection is. */
export async function askUser(nats: NatsConnection): Promise<RunningUser> {
  try {
    const message = await nats.request(USER_SUBJECT, '', { timeout: ANSWER_MS_MAX })
    return running.parse(message.json()).data
  } catch (cause) {
    throw new EngineError('the brokers do not say who the user is', { cause })
  }
}
