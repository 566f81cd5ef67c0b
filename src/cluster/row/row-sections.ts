import { type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { assert } from '../../protocol/brand.ts'
import type { HeldChange } from '../../log/held/held-change.ts'
import {
  type ChainWord,
  formatDraft,
  type HeldDraft,
  parseStoredDraft,
  type SettledDraft,
} from '../../log/held/held-draft.ts'
import type { CommitRow, RowSignatures, RowRef } from './log-row.ts'
import type { RowSection } from './row-head.ts'
import {
  asFields,
  bytesInBase64,
  countField,
  fieldsInJson,
  listField,
  MalformedRow,
  nullableField,
  type RowFields,
  textField,
  textInUtf8,
  wordField,
} from './row-json.ts'

// A section is text: one line for each event or change, each with its newline. An empty line stands for null.

/** Most bytes of a digest of a draft. */
const DIGEST_BYTES_MAX = 32

/** The sections of a commit as bytes. */
export function formatRowSections(commit: CommitRow): Readonly<Record<RowSection, Uint8Array>> {
  const { lines, details, refs, held, moved } = commit
  assert(
    details.length === lines.length && refs.length === lines.length,
    'each event has its lines and its ref',
  )
  return {
    lines: joined(lines),
    details: joined(details.map((line) => line ?? '')),
    refs: joined(refs.map(formatRef)),
    held: joined(held.map(formatHeldChange)),
    signatures: joined((moved?.signatures ?? []).map(({ size, bytes }) => formatSignature(size, bytes))),
    notes: joined((moved?.notes ?? []).map(({ size, note }) => JSON.stringify([size, note]))),
  }
}

/** Reads the sections of a commit with so many events. Throws `MalformedRow`. */
export function readRowSections(
  section: (name: RowSection) => Uint8Array,
  { count, moved }: Readonly<{ count: number; moved: boolean }>,
): Pick<CommitRow, 'lines' | 'details' | 'refs' | 'held' | 'moved'> {
  const of = (name: RowSection): readonly string[] => divided(section(name), name)
  const each = (name: RowSection): readonly string[] => {
    const lines = of(name)
    if (lines.length !== count)
      throw new MalformedRow(`${name} has ${lines.length} lines for ${count} events`)
    return lines
  }
  const signed = { signatures: of('signatures').map(readSignature), notes: of('notes').map(readNote) }
  if (!moved && signed.signatures.length + signed.notes.length > 0) {
    throw new MalformedRow('a commit that was not moved has signatures')
  }
  return {
    lines: each('lines'),
    details: each('details').map((line) => (line === '' ? null : line)),
    refs: each('refs').map(readRef),
    held: of('held').map(readHeldChange),
    moved: moved ? signed : null,
  }
}

function joined(lines: readonly string[]): Uint8Array {
  return Buffer.from(lines.length === 0 ? '' : `${lines.join('\n')}\n`)
}

function divided(bytes: Uint8Array, name: string): readonly string[] {
  if (bytes.length === 0) return []
  const text = textInUtf8(bytes, name)
  if (!text.endsWith('\n')) throw new MalformedRow(`${name} does not end with a newline`)
  return text.slice(0, -1).split('\n')
}

function formatRef(ref: RowRef | null): string {
  return ref === null ? '' : JSON.stringify([ref.ref, base64Of(ref.digest)])
}

function readRef(line: string): RowRef | null {
  if (line === '') return null
  const of = fieldsInJson(line, 'refs')
  const ref = { ref: textField(of, '0'), digest: bytesInBase64(of['1'], 'refs') }
  if (ref.digest.length > DIGEST_BYTES_MAX) throw new MalformedRow('refs has a digest that is too long')
  return inOneForm(ref, formatRef, line, 'refs')
}

function formatSignature(size: number, bytes: Uint8Array): string {
  return JSON.stringify([size, base64Of(bytes)])
}

function readSignature(line: string): RowSignatures['signatures'][number] {
  const of = fieldsInJson(line, 'signatures')
  const signature = { size: countField(of, '0'), bytes: bytesInBase64(of['1'], 'signatures') }
  return inOneForm(signature, ({ size, bytes }) => formatSignature(size, bytes), line, 'signatures')
}

function readNote(line: string): RowSignatures['notes'][number] {
  const of = fieldsInJson(line, 'notes')
  const note = { size: countField(of, '0'), note: textField(of, '1') }
  return inOneForm(note, ({ size, note: text }) => JSON.stringify([size, text]), line, 'notes')
}

/** JSON of a change of held drafts: the members in this order. */
function formatHeldChange(change: HeldChange): string {
  switch (change.is) {
    case 'hold': {
      const { id, draft, acceptedAt, chain, ...later } = change.held
      const sent: unknown = JSON.parse(formatDraft(draft))
      // A new draft has none of these, and a commit may hold thousands.
      const place = later.place ?? undefined
      const settledAt = later.settledAt ?? undefined
      const [vouch, reason] = [later.vouch ?? undefined, later.reason ?? undefined]
      return JSON.stringify({
        is: 'hold',
        id,
        draft: sent,
        acceptedAt,
        chain,
        place,
        settledAt,
        vouch,
        reason,
      })
    }
    case 'change': {
      const { is, ids, chain, place, settledAt, vouch, reason } = change
      return JSON.stringify({ is, ids, chain, place, settledAt, vouch, reason })
    }
    case 'remove':
      return JSON.stringify({ is: change.is, ids: change.ids })
    case 'settle': {
      const { is, ids, state, settledAt, place, reason } = change
      return JSON.stringify({ is, ids, state, settledAt, place, reason })
    }
    case 'vouch':
      return JSON.stringify({ is: change.is, seq: change.seq, reason: change.reason, at: change.at })
    case 'chain':
      return JSON.stringify({ is: change.is, id: change.id })
  }
}

const CHANGES = [
  'hold',
  'change',
  'remove',
  'settle',
  'vouch',
  'chain',
] as const satisfies readonly HeldChange['is'][]
const WORDS = ['asked', 'final', 'vouched', 'none'] as const satisfies readonly ChainWord[]
const STATES = ['failed', 'dropped'] as const satisfies readonly SettledDraft['state'][]

function readHeldChange(line: string): HeldChange {
  const of = fieldsInJson(line, 'held')
  return inOneForm(readChange(of), formatHeldChange, line, 'held')
}

function readChange(of: RowFields): HeldChange {
  const is = wordField(of, 'is', CHANGES)
  switch (is) {
    case 'hold':
      return { is, held: readHeld(of) }
    case 'change':
      return { is, ids: idsIn(of), ...changeableIn(of) }
    case 'remove':
      return { is, ids: idsIn(of) }
    case 'settle':
      return {
        is,
        ids: idsIn(of),
        state: wordField(of, 'state', STATES),
        settledAt: momentIn(of, 'settledAt'),
        place: nullableField(of, 'place', textField),
        reason: textField(of, 'reason'),
      }
    case 'vouch':
      return {
        is,
        seq: seqOf(countField(of, 'seq', 1)),
        reason: textField(of, 'reason'),
        at: momentIn(of, 'at'),
      }
    case 'chain':
      return { is, id: textField(of, 'id') }
  }
}

function readHeld(of: RowFields): HeldDraft {
  const ref = textField(asFields(of['draft'], 'draft'), 'ref')
  return {
    id: countField(of, 'id', 1),
    ref,
    draft: draftIn(of, ref),
    acceptedAt: momentIn(of, 'acceptedAt'),
    ...changeableIn({ ...NOTHING_LATER, ...of }),
  }
}

const NOTHING_LATER = { place: null, settledAt: null, vouch: null, reason: null } as const

function draftIn(of: RowFields, ref: string): HeldDraft['draft'] {
  try {
    return parseStoredDraft(JSON.stringify(of['draft']), ref)
  } catch {
    throw new MalformedRow('draft is no draft')
  }
}

function changeableIn(of: RowFields): Omit<HeldDraft, 'id' | 'ref' | 'draft' | 'acceptedAt'> {
  return {
    chain: wordField(of, 'chain', WORDS),
    place: nullableField(of, 'place', textField),
    settledAt: nullableField(of, 'settledAt', momentIn),
    vouch: nullableField(of, 'vouch', textField),
    reason: nullableField(of, 'reason', textField),
  }
}

function idsIn(of: RowFields): readonly number[] {
  const ids = listField(of, 'ids')
  return ids.map((_, index) => countField({ ids: ids[index] }, 'ids', 1))
}

function momentIn(of: RowFields, name: string): Ms {
  const ms = countField(of, name)
  if (ms > MS_MAX) throw new MalformedRow(`${name} is no moment`)
  return msOf(ms)
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Refuses a line that is not written as Daybook writes the value, so that a row has one form. */
function inOneForm<Value>(value: Value, format: (value: Value) => string, line: string, name: string): Value {
  if (format(value) !== line) throw new MalformedRow(`${name} has a line that is not in its one form`)
  return value
}
