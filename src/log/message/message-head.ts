import { parseMonth } from '../../protocol/moment.ts'
import { isChain } from '../../protocol/tx.ts'
import type { FormerLog, ListedKey, LogIdentity } from '../store/reader.ts'
import { MONTH_FILES } from '../store/archive-tables.ts'
import type { CarriedSegment, Message, MessageBody, MessagePlace } from './message.ts'
import { MESSAGE_VERSION, SEAL_CAUSES } from './message.ts'
import type { Fields } from './strict-json.ts'
import {
  countIn,
  objectOf,
  flagIn,
  sha256In,
  hexOf,
  listIn,
  Malformed,
  orNull,
  textIn,
  wordIn,
} from './strict-json.ts'

/** Bytes of each section of a commit, in their order. */
type SectionSizes = Readonly<Record<SectionName, number>>
export type SectionName = (typeof SECTIONS)[number]
export const SECTIONS = ['lines', 'details', 'refs', 'held', 'signatures', 'notes'] as const

/** Head of a commit: all but its sections. */
export type CommitHead = Readonly<{
  is: 'commit'
  first: number
  count: number
  root: Uint8Array
  moved: boolean
  sizes: SectionSizes
  segments: readonly SegmentHead[]
}>
type SegmentHead = Omit<CarriedSegment, 'bytes'> & Readonly<{ bytes: number }>

/** Head of a message. */
export type MessageHead = MessagePlace & (CommitHead | Exclude<MessageBody, { is: 'commit' }>)

const KINDS = ['genesis', 'commit', 'keys', 'version', 'seal'] as const satisfies readonly Message['is'][]

/** JSON of a head. It is the only form that is read. */
export function formatHead(head: MessageHead): string {
  const { v, is, logId, stream, place, prev } = head
  return JSON.stringify({ v, is, logId, stream, place, prev: hexOf(prev), ...wireOf(head) })
}

function wireOf(head: MessageHead): object {
  switch (head.is) {
    case 'genesis':
      return {
        head: head.head,
        root: hexOf(head.root),
        identity: identityWire(head.identity),
        keys: keysWire(head.keys),
        ...(head.moving ? { moving: true } : {}),
      }
    case 'commit': {
      const { first, count, root, moved, sizes, segments } = head
      const ends = segments.map(({ month, file, start, bytes }) => ({ month, file, start, bytes }))
      return {
        first,
        count,
        root: hexOf(root),
        moved,
        sizes: SECTIONS.map((name) => sizes[name]),
        segments: ends,
      }
    }
    case 'keys':
      return { head: head.head, keys: keysWire(head.keys) }
    case 'version':
      return { frames: head.frames, needs: head.needs }
    case 'seal':
      return { head: head.head, root: hexOf(head.root), next: head.next, why: head.why }
  }
}

function identityWire({ id, origin, chain, simulated, former }: LogIdentity): object {
  return {
    id,
    origin,
    chain,
    simulated,
    former: former.map(({ id: of, origin: name, size }) => ({ id: of, origin: name, size })),
  }
}

function keysWire(keys: readonly ListedKey[]): object {
  return keys.map(({ vkey, fromSize, toSize, statement }) => ({ vkey, fromSize, toSize, statement }))
}

/** Reads the fields of a head. Throws `Malformed`. */
export function readHead(of: Fields): MessageHead {
  const placed = {
    v: MESSAGE_VERSION,
    logId: textIn(of, 'logId'),
    stream: countIn(of, 'stream', 1),
    place: countIn(of, 'place', 1),
    prev: sha256In(of, 'prev'),
  } as const
  return { ...placed, ...readBody(of, wordIn(of, 'is', KINDS)) }
}

function readBody(of: Fields, is: Message['is']): CommitHead | Exclude<MessageBody, { is: 'commit' }> {
  switch (is) {
    case 'genesis':
      return {
        is,
        identity: readIdentityIn(of),
        keys: readKeysIn(of),
        head: countIn(of, 'head'),
        root: sha256In(of, 'root'),
        moving: of['moving'] !== undefined && flagIn(of, 'moving'),
      }
    case 'commit':
      return readCommit(of)
    case 'keys':
      return { is, head: countIn(of, 'head'), keys: readKeysIn(of) }
    case 'version':
      return { is, frames: countIn(of, 'frames', 1), needs: textIn(of, 'needs') }
    case 'seal':
      return {
        is,
        head: countIn(of, 'head'),
        root: sha256In(of, 'root'),
        next: countIn(of, 'next', 2),
        why: wordIn(of, 'why', SEAL_CAUSES),
      }
  }
}

function readCommit(of: Fields): CommitHead {
  const sizes = objectOf(listIn(of, 'sizes'), 'sizes')
  const size = (index: number): number => countIn(sizes, String(index))
  return {
    is: 'commit',
    first: countIn(of, 'first', 1),
    count: countIn(of, 'count'),
    root: sha256In(of, 'root'),
    moved: flagIn(of, 'moved'),
    sizes: {
      lines: size(0),
      details: size(1),
      refs: size(2),
      held: size(3),
      signatures: size(4),
      notes: size(5),
    },
    segments: listIn(of, 'segments').map((value) => readSegment(objectOf(value, 'segments'))),
  }
}

function readSegment(of: Fields): SegmentHead {
  const month = parseMonth(textIn(of, 'month'))
  if (month === undefined) throw new Malformed('month is no month')
  return {
    month,
    file: wordIn(of, 'file', MONTH_FILES),
    start: countIn(of, 'start'),
    bytes: countIn(of, 'bytes'),
  }
}

function readIdentityIn(message: Fields): LogIdentity {
  const of = objectOf(message['identity'], 'identity')
  const chain = textIn(of, 'chain')
  if (!isChain(chain)) throw new Malformed('chain is none that Daybook knows')
  return {
    id: textIn(of, 'id'),
    origin: textIn(of, 'origin'),
    chain,
    simulated: flagIn(of, 'simulated'),
    former: listIn(of, 'former').map((value) => readFormer(objectOf(value, 'former'))),
  }
}

function readFormer(of: Fields): FormerLog {
  return { id: textIn(of, 'id'), origin: textIn(of, 'origin'), size: countIn(of, 'size') }
}

function readKeysIn(message: Fields): readonly ListedKey[] {
  return listIn(message, 'keys').map((value) => {
    const of = objectOf(value, 'keys')
    return {
      vkey: textIn(of, 'vkey'),
      fromSize: countIn(of, 'fromSize'),
      toSize: orNull(of, 'toSize', countIn),
      statement: orNull(of, 'statement', textIn),
    }
  })
}
