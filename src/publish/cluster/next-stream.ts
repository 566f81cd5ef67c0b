import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { decodeMessage } from '../../log/message/message-frame.ts'
import type { OwnMark } from '../replica/marking.ts'
import { ONE_MESSAGE_BYTES } from '../stream/read-messages.ts'

/**
 * Whether the log of a node goes on in the stream after its own. A stream of that number that begins before the events of
 * the node is left from a time before the log was moved again. False while the engine does not tell.
 */
export async function hasNextStream(
  connect: (stream: number) => Promise<EngineConnection>,
  { logId, stream, seq }: Pick<OwnMark, 'logId' | 'stream' | 'seq'>,
): Promise<boolean> {
  try {
    await using connection = await connect(stream + 1)
    if ((await connection.log.last()) === 0) return false
    const [first] = await connection.log.read(1, ONE_MESSAGE_BYTES)
    const decoded = first === undefined ? null : decodeMessage(first.bytes)
    if (decoded === null || !decoded.ok) return false
    const { message } = decoded.signed
    if (message.is !== 'genesis' || message.head < seq) return false
    const { id, former } = message.identity
    return [id, ...former.map((log) => log.id)].includes(logId)
  } catch (error) {
    if (error instanceof EngineError) return false
    throw error
  }
}
