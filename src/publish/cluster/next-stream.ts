import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import type { Message } from '../../log/message/message.ts'
import { decodeMessage } from '../../log/message/message-frame.ts'
import type { OwnMark } from '../replica/marking.ts'
import { ONE_MESSAGE_BYTES } from '../stream/read-messages.ts'

type Connect = (stream: number) => Promise<EngineConnection>
type Own = Pick<OwnMark, 'logId' | 'stream' | 'seq'>

/**
 * Whether the log of a node goes on in the stream after its own. Streams of later numbers that begin before the events of
 * the node, or that the log has left by a move off the engine, are of a time before the log was moved again. False while
 * the engine does not tell.
 */
export async function hasNextStream(connect: Connect, own: Own): Promise<boolean> {
  try {
    for (let stream = own.stream + 1; ; stream += 1) {
      const end = await endOf(await connect(stream), own)
      if (end?.is !== 'seal') return end !== null
      if (end.why === 'back') return false
    }
  } catch (error) {
    if (error instanceof EngineError) return false
    throw error
  }
}

/** The newest message of a stream; null when the stream does not continue the log of the node. */
async function endOf(opened: EngineConnection, { logId, seq }: Own): Promise<Message | null> {
  await using connection = opened
  const last = await connection.log.last()
  const first = last === 0 ? null : await messageAt(connection, 1)
  if (first?.is !== 'genesis' || first.head < seq) return null
  const { id, former } = first.identity
  return [id, ...former.map((log) => log.id)].includes(logId) ? await messageAt(connection, last) : null
}

async function messageAt({ log }: EngineConnection, place: number): Promise<Message | null> {
  const [message] = await log.read(place, ONE_MESSAGE_BYTES)
  const decoded = message === undefined ? null : decodeMessage(message.bytes)
  return decoded?.ok === true ? decoded.signed.message : null
}
