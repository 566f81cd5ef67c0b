import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { nkeys } from '@nats-io/transport-node'
import { z } from 'zod'
import { EngineError } from '../log-engine.ts'
import { askBrokers, askUser, JSZ, streamIn } from './broker-replies.ts'
import { brokerSubject, NEEDED, streamName } from './nats-names.ts'
import { configFaults, expectedConfig } from './stream-settings.ts'

/** Attempts to make a stream, and the time of one: brokers that were just started need some seconds. */
const ATTEMPTS = 10
const CREATE_MS = 2_000
const STALL_MS = 200
const QUESTIONS = ['RAFTZ', 'JSZ', 'VARZ'] as const

/** A user of the brokers. They know the public key only; the seed is the secret. */
export type NatsUser = Readonly<{ publicKey: string; seed: string }>

/** Makes a user with a new key. */
export function makeNatsUser(): NatsUser {
  return natsUserOf(new TextDecoder().decode(nkeys.createUser().getSeed()))
}

/** The user of a seed. Throws when it is none. */
export function natsUserOf(seed: string): NatsUser {
  return {
    publicKey: nkeys.fromSeed(new TextEncoder().encode(seed.trim())).getPublicKey(),
    seed: seed.trim(),
  }
}

/**
 * The part of a broker's configuration that is the same on every broker: the account of the log and its two users. The
 * administrator makes streams. The running user may append, read and ask, and nothing else. Has no secret.
 */
export function accountsConfig(administrator: string, running: string): string {
  const subjects = QUESTIONS.map((question) => brokerSubject('*', question))
  return `# Made by \`daybook cluster init\`. Every broker includes this file. It has public keys only.
system_account: SYS
accounts {
  SYS {
    exports: [
${subjects.map((subject) => `      { service: "${subject}", response_type: stream, accounts: [DAYBOOK] }`).join('\n')}
    ]
  }
  DAYBOOK {
    jetstream: enabled
    imports: [
${subjects.map((subject) => `      { service: { account: SYS, subject: "${subject}" } }`).join('\n')}
    ]
    users: [
      # The administrator: for \`daybook cluster\` only.
      { nkey: ${administrator} }
      # The running user: for every writer.
      {
        nkey: ${running}
        permissions: {
          publish: { allow: ${JSON.stringify(NEEDED.publish)} }
          subscribe: { allow: ${JSON.stringify(NEEDED.subscribe)} }
        }
      }
    ]
  }
}
`
}

const created: z.ZodType<Readonly<{ error?: Readonly<{ description: string }> | undefined }>> = z.object({
  error: z.object({ description: z.string() }).optional(),
})

/**
 * Makes the stream, as the administrator. A stream with the expected configuration and no message is left as it is.
 * Throws an `EngineError` when there is another one, or when the brokers cannot make it.
 */
export async function makeStream(nats: NatsConnection, stream: number): Promise<'made' | 'there'> {
  const name = streamName(stream)
  const { account } = await askUser(nats)
  let isThere = false
  await askBrokers(nats, JSZ, { account, streams: true, config: true }, { stallMs: STALL_MS }, ({ said }) => {
    const found = streamIn(said, account, name)
    if (found === undefined) return false
    isThere = true
    const faults = configFaults(stream, found.config)
    if (found.state.last_seq > 0) {
      throw new EngineError(
        `the stream ${name} has ${found.state.last_seq} messages: it is the log of a cluster`,
      )
    }
    if (faults.length > 0)
      throw new EngineError(`there is a stream ${name} with other settings: ${faults.join('; ')}`)
    // Another replica may have messages that this one lacks.
    return false
  })
  if (isThere) return 'there'
  const why = await create(nats, name, stream)
  if (why !== null) throw new EngineError(`the brokers make no stream ${name}: ${why}`)
  return 'made'
}

/** Null once the stream is made, or the reason why not. Repeating is harmless: the configuration is the same. */
async function create(nats: NatsConnection, name: string, stream: number): Promise<string | null> {
  const body = JSON.stringify(expectedConfig(stream))
  let why = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const answer = await nats.request(`$JS.API.STREAM.CREATE.${name}`, body, { timeout: CREATE_MS })
      const { error } = created.parse(answer.json())
      if (error === undefined) return null
      why = error.description
      // At first the leader of the brokers has not heard of all of them.
      if (!why.includes('no suitable peers')) return why
      await sleep(CREATE_MS / 4)
    } catch {
      // At first the brokers have no leader, and none answers.
      why = 'they do not answer'
    }
  }
  return why
}
