import type { DatabaseSync } from 'node:sqlite'
import type { Message } from './message.ts'
import { digestOfMessage } from './message-frame.ts'
import type { ChainEnd } from './stream-chain.ts'
import { readIdentity } from '../store/store.ts'
import { readPosition } from '../stream/engine-position.ts'
import { openKeptMessages } from '../stream/kept-messages.ts'
import { headOf } from '../tree/log-fault.ts'
import { readKeys } from '../tree/signing-keys.ts'
import { HASHER, openStoredTree } from '../tree/stored-tree.ts'
import { assert } from '../../protocol/brand.ts'
import type { Frontier } from '../../tlog/frontier.ts'
import { frontierAt } from '../../tlog/frontier.ts'
import { isSame } from '../../tlog/hash.ts'

/** Compares a store with the messages of its log, which are given in order. */
export type StoreComparison = Readonly<{
  /** The tree of the first events; null when the store has fewer. */
  treeAt(size: number): Frontier | null
  /** Reason why a message is not the one of the store; null when it is, or when the store does not have it yet. */
  faultOf(at: Readonly<{ stream: number; place: number }>, bytes: Uint8Array, message: Message): string | null
  /** Messages and events that the store has and the engine lacks, one sentence each. */
  end(end: ChainEnd): readonly string[]
  /** Distance of the store behind the engine, one sentence each. */
  notices(end: ChainEnd): readonly string[]
}>

/** Opens the comparison of a store whose log is on an engine. */
export function compareStore(db: DatabaseSync): StoreComparison {
  const position = readPosition(db)
  assert(position !== null, 'the log of the store is on an engine')
  const head = headOf(db)
  const { id, former: logs } = readIdentity(db)
  const former = new Set(logs.map((log) => log.id))
  const listed = new Set(readKeys(db).map(({ vkey }) => vkey))
  // After a seal the kept messages are those of the sealed stream.
  const keptStream = position.place === 0 ? position.stream - 1 : position.stream
  const kept = new Map(
    openKeptMessages(db)
      .from(1)
      .map(({ place, bytes }) => [place, bytes]),
  )
  const event = db.prepare(
    'SELECT e.line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq = ?',
  )

  function faultOfLines({ first, lines, details }: Extract<Message, { is: 'commit' }>): string | null {
    for (const [index, line] of lines.entries()) {
      const seq = first + index
      if (seq > head) return null
      const row = event.get(seq)
      if (row?.['line'] !== line || row['details'] !== (details[index] ?? null))
        return `the store has another event as seq ${seq}`
    }
    return null
  }

  return {
    treeAt: (size) => (size <= head ? frontierAt(HASHER, size, openStoredTree(db).tile) : null),
    faultOf({ stream, place }, bytes, message) {
      // A log before a fork may have another branch in the engine than the one that was adopted.
      if (former.has(message.logId)) return null
      if (message.logId !== id) return 'it is of another log than that of the store'
      if (message.is === 'genesis' && message.keys.some(({ vkey }) => !listed.has(vkey)))
        return 'it lists a key that the store does not know'
      const own = stream === keptStream ? kept.get(place) : undefined
      if (own !== undefined && Buffer.compare(own, bytes) !== 0) return 'the store keeps another message'
      if (stream === position.stream && place === position.place) {
        if (!isSame(digestOfMessage(bytes), position.digest)) return 'the store names another message'
      }
      return message.is === 'commit' ? faultOfLines(message) : null
    },
    end({ stream, place, head: seq }) {
      if (stream < position.stream || (stream === position.stream && place < position.place)) {
        return [
          `the engine ends at place ${place} of stream ${stream}, and the store at place ${position.place} of stream ${position.stream}: start this node, and it offers the missing messages again`,
        ]
      }
      return seq < head ? [`the engine ends at seq ${seq}, and the store at seq ${head}`] : []
    },
    notices({ stream, place, head: seq }) {
      if (stream === position.stream && place === position.place) return []
      return seq > head ? [`the store is ${seq - head} events behind the engine`] : []
    },
  }
}
