import { parseMonth } from '../../protocol/moment.ts'
import { isChain } from '../../protocol/tx.ts'
import type { FormerLog, ListedKey, LogIdentity } from '../../log/store/reader.ts'
import { MONTH_FILES } from '../../log/store/archive-tables.ts'
import { type LogRow, ROW_VERSION, type RowBody, type RowPlace, type RowSegment } from './log-row.ts'
import {
  asFields,
  countField,
  flagField,
  hashField,
  hexOfHash,
  listField,
  MalformedRow,
  nullableField,
  type RowFields,
  textField,
  wordField,
} from './row-json.ts'

/** Bytes of each section of a commit, in their order. */
type SectionSizes = Readonly<Record<RowSection, number>>
export type RowSection = (typeof ROW_SECTIONS)[number]
export const ROW_SECTIONS = ['lines', 'details', 'refs', 'held', 'signatures', 'notes'] as const

/** Head of a commit: all but its sections. */
export type CommitRowHead = Readonly<{
  is: 'commit'
  first: number
  count: number
  root: Uint8Array
  moved: boolean
  sizes: SectionSizes
  segments: readonly SegmentHead[]
}>
type SegmentHead = Omit<RowSegment, 'bytes'> & Readonly<{ bytes: number }>

/** Head of a row. */
export type RowHead = RowPlace & (CommitRowHead | Exclude<RowBody, { is: 'commit' }>)

const KINDS = ['begin', 'commit', 'keys', 'end'] as const satisfies readonly LogRow['is'][]

/** JSON of a head. It is the only form that is read. */
export function formatRowHead(head: RowHead): string {
  const { v, is, logId, place, prev } = head
  return JSON.stringify({ v, is, logId, place, prev: hexOfHash(prev), ...wireOf(head) })
}

function wireOf(head: RowHead): object {
  switch (head.is) {
    case 'begin':
      return { identity: identityWire(head.identity), keys: keysWire(head.keys) }
    case 'commit': {
      const { first, count, root, moved, sizes, segments } = head
      const ends = segments.map(({ month, file, start, bytes }) => ({ month, file, start, bytes }))
      return {
        first,
        count,
        root: hexOfHash(root),
        moved,
        sizes: ROW_SECTIONS.map((name) => sizes[name]),
        segments: ends,
      }
    }
    case 'keys':
      return { head: head.head, keys: keysWire(head.keys) }
    case 'end':
      return { head: head.head, root: hexOfHash(head.root), nonce: hexOfHash(head.nonce) }
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

/** Reads the fields of a head. Throws `MalformedRow`. */
export function readRowHead(of: RowFields): RowHead {
  const placed = {
    v: ROW_VERSION,
    logId: textField(of, 'logId'),
    place: countField(of, 'place', 1),
    prev: hashField(of, 'prev'),
  } as const
  return { ...placed, ...readBody(of, wordField(of, 'is', KINDS)) }
}

function readBody(of: RowFields, is: LogRow['is']): CommitRowHead | Exclude<RowBody, { is: 'commit' }> {
  switch (is) {
    case 'begin':
      return { is, identity: readIdentityIn(of), keys: readKeysIn(of) }
    case 'commit':
      return readCommit(of)
    case 'keys':
      return { is, head: countField(of, 'head'), keys: readKeysIn(of) }
    case 'end':
      return { is, head: countField(of, 'head'), root: hashField(of, 'root'), nonce: hashField(of, 'nonce') }
  }
}

function readCommit(of: RowFields): CommitRowHead {
  const sizes = asFields(listField(of, 'sizes'), 'sizes')
  const size = (index: number): number => countField(sizes, String(index))
  return {
    is: 'commit',
    first: countField(of, 'first', 1),
    count: countField(of, 'count'),
    root: hashField(of, 'root'),
    moved: flagField(of, 'moved'),
    sizes: {
      lines: size(0),
      details: size(1),
      refs: size(2),
      held: size(3),
      signatures: size(4),
      notes: size(5),
    },
    segments: listField(of, 'segments').map((value) => readSegment(asFields(value, 'segments'))),
  }
}

function readSegment(of: RowFields): SegmentHead {
  const month = parseMonth(textField(of, 'month'))
  if (month === undefined) throw new MalformedRow('month is no month')
  return {
    month,
    file: wordField(of, 'file', MONTH_FILES),
    start: countField(of, 'start'),
    bytes: countField(of, 'bytes'),
  }
}

function readIdentityIn(row: RowFields): LogIdentity {
  const of = asFields(row['identity'], 'identity')
  const chain = textField(of, 'chain')
  if (!isChain(chain)) throw new MalformedRow('chain is none that Daybook knows')
  return {
    id: textField(of, 'id'),
    origin: textField(of, 'origin'),
    chain,
    simulated: flagField(of, 'simulated'),
    former: listField(of, 'former').map((value) => readFormer(asFields(value, 'former'))),
  }
}

function readFormer(of: RowFields): FormerLog {
  return { id: textField(of, 'id'), origin: textField(of, 'origin'), size: countField(of, 'size') }
}

function readKeysIn(row: RowFields): readonly ListedKey[] {
  return listField(row, 'keys').map((value) => {
    const of = asFields(value, 'keys')
    return {
      vkey: textField(of, 'vkey'),
      fromSize: countField(of, 'fromSize'),
      toSize: nullableField(of, 'toSize', countField),
      statement: nullableField(of, 'statement', textField),
    }
  })
}
