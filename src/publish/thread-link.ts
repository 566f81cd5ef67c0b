import { assert } from '../protocol/brand.ts'

/**
 * Messages that a thread receives: a function for each kind. The arguments are the content of the message. The result
 * is the answer, for which the sender may wait.
 */
type MessageTable = Readonly<Record<string, (...content: never[]) => unknown>>

/** Kinds that one end sends, and kinds that it receives. */
type MessageTables = Readonly<{ sent: MessageTable; received: MessageTable }>

type Content<Table extends MessageTable, Kind extends keyof Table> = Parameters<Table[Kind]>
type Answer<Table extends MessageTable, Kind extends keyof Table> = Awaited<ReturnType<Table[Kind]>>

/** Result of a question whose answer is too late. */
export const LATE: unique symbol = Symbol('late')

/** One end of the messages between two threads. `Sent` has the kinds that the other thread receives. */
export type ThreadLink<Sent extends MessageTable> = Readonly<{
  /** Sends a message that needs no answer. */
  send<Kind extends keyof Sent>(kind: Kind, ...content: Content<Sent, Kind>): void
  /** Sends a message and waits for its answer. Rejects with the error of the other thread, or that of `fail`. */
  ask<Kind extends keyof Sent>(kind: Kind, ...content: Content<Sent, Kind>): Promise<Answer<Sent, Kind>>
  /** Like `ask`; `LATE` if no answer comes within `msMax` milliseconds. A later answer is dropped. */
  askWithin<Kind extends keyof Sent>(
    msMax: number,
    kind: Kind,
    ...content: Content<Sent, Kind>
  ): Promise<Answer<Sent, Kind> | typeof LATE>
  /** Rejects every open question, because the other thread has failed. */
  fail(error: unknown): void
}>

/** Port of a thread: a worker, or the port of its parent. */
type Port = Readonly<{
  postMessage(message: Message, transfer: ArrayBuffer[]): void
  on(event: 'message', listener: (message: Message) => void): unknown
}>

type Message =
  | Readonly<{ is: 'sent'; kind: string; content: never[] }>
  | Readonly<{ is: 'asked'; id: number; kind: string; content: never[] }>
  | Readonly<{ is: 'answer'; id: number; answer: unknown }>
  | Readonly<{ is: 'failed'; id: number; error: unknown }>

/** An open question, and its time limit. */
type Asked = {
  resolve(answer: unknown): void
  reject(error: unknown): void
  limit: NodeJS.Timeout | undefined
}

/** Opens an end of the messages between two threads. `received` has a function for each kind. */
export function openThreadLink<Tables extends MessageTables>(
  port: Port,
  received: Tables['received'],
): ThreadLink<Tables['sent']> {
  type Sent = Tables['sent']
  const asked = new Map<number, Asked>()
  let lastId = 0

  port.on('message', (message) => {
    switch (message.is) {
      case 'sent':
        return void received[message.kind]?.(...message.content)
      case 'asked':
        return void answerTo(message)
      case 'answer':
        return take(message.id)?.resolve(message.answer)
      case 'failed':
        return take(message.id)?.reject(message.error)
    }
  })

  /** Removes an open question. Undefined when it is late or has failed. */
  function take(id: number): Asked | undefined {
    const question = asked.get(id)
    clearTimeout(question?.limit)
    asked.delete(id)
    return question
  }

  async function answerTo({ id, kind, content }: Message & { is: 'asked' }): Promise<void> {
    try {
      const made: unknown = await received[kind]?.(...content)
      const moved = typeof made === 'object' && made !== null ? TRANSFERRED.get(made) : undefined
      port.postMessage({ is: 'answer', id, answer: made }, moved ?? [])
    } catch (error) {
      port.postMessage({ is: 'failed', id, error }, [])
    }
  }

  function askWithin<Kind extends keyof Sent>(
    msMax: number | null,
    kind: Kind,
    ...content: Content<Sent, Kind>
  ): Promise<Answer<Sent, Kind> | typeof LATE> {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<Answer<Sent, Kind> | typeof LATE>()
    // If this thread was busy, the answer may have arrived unread. One more turn of the event loop reads it.
    const late = (): unknown => setImmediate(() => take(id)?.resolve(LATE))
    asked.set(id, { resolve, reject, limit: msMax === null ? undefined : setTimeout(late, msMax) })
    port.postMessage({ is: 'asked', id, kind: String(kind), content }, [])
    return promise
  }

  return {
    send: (kind, ...content) => port.postMessage({ is: 'sent', kind: String(kind), content }, []),
    askWithin,
    ask: (kind, ...content) =>
      askWithin(null, kind, ...content).then((answer) => {
        assert(answer !== LATE, 'a question without a limit is not late')
        return answer
      }),
    fail(error) {
      for (const id of asked.keys()) take(id)?.reject(error)
    },
  }
}

const TRANSFERRED = new WeakMap<object, ArrayBuffer[]>()

/** Returns the same answer, whose memory is transferred to the other thread. */
export function transferring<Made extends object>(answer: Made, memory: ArrayBuffer[]): Made {
  TRANSFERRED.set(answer, memory)
  return answer
}
