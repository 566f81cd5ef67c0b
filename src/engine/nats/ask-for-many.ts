import { createInbox } from '@nats-io/transport-node'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { EngineError } from '../log-engine.ts'
import { INBOX_PREFIX } from './nats-names.ts'

/**
 * Sends a request that has several answers, and calls `onMessage` with each until it calls `end`. Rejects when it throws,
 * when the connection is closed, and after `msMax`.
 */
export async function askForMany(
  nats: NatsConnection,
  subject: string,
  body: string,
  msMax: number,
  onMessage: (message: Msg, end: () => void) => void,
): Promise<void> {
  const ended = Promise.withResolvers<void>()
  const inbox = createInbox(INBOX_PREFIX)
  const timer = setTimeout(() => ended.reject(new EngineError('the brokers do not answer in time')), msMax)
  let stop: (() => void) | undefined
  try {
    const subscription = nats.subscribe(inbox, {
      callback: (error, message) => {
        try {
          if (error !== null) throw error
          onMessage(message, () => ended.resolve())
        } catch (cause) {
          ended.reject(cause)
        }
      },
    })
    stop = () => subscription.unsubscribe()
    nats.publish(subject, body, { reply: inbox })
    await ended.promise
  } finally {
    clearTimeout(timer)
    if (!nats.isClosed()) stop?.()
  }
}
