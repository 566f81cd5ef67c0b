import type { Ms } from '../../protocol/moment.ts'
import { MS_MAX, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { assert } from '../../protocol/brand.ts'
import type { HeldChange } from '../held/held-change.ts'
import type { ChainWord, HeldDraft, SettledDraft } from '../held/held-draft.ts'
import { formatDraft, parseStoredDraft } from '../held/held-draft.ts'
import type { Commit, MovedSignatures, PublishedRef } from './message.ts'
import type { SectionName } from './message-head.ts'
import type { Fields } from './strict-json.ts'
import {
  bytesOfBase64,
  countIn,
  objectOf,
  objectOfJson,
  listIn,
  Malformed,
  orNull,
  textIn,
  textOfUtf8,
  wordIn,
} from './strict-json.ts'

// A section is text: one line for each event or change, each with its newline. An empty line stands for null.

/** Most bytes of a digest of a draft. */
const DIGEST_BYTES_MAX = 32

/** The sections of a commit as bytes. */
export function formatSections(commit: Commit): Readonly<Record<SectionName, Uint8Array>> {
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

/** Reads the sections of a commit with so many events. Throws `Malformed`. */
export function readSections(
  section: (name: SectionName) => Uint8Array,
  { count, moved }: Readonly<{ count: number; moved: boolean }>,
): Pick<Commit, 'lines' | 'details' | 'refs' | 'held' | 'moved'> {
  const of = (name: SectionName): readonly string[] => divided(section(name), name)
  const each = (name: SectionName): readonly string[] => {
    const lines = of(name)
    if (lines.length !== count) throw new Malformed(`${name} has ${lines.length} lines for ${count} events`)
    return lines
  }
  const signed = { signatures: of('signatures').map(readSignature), notes: of('notes').map(readNote) }
  if (!moved && signed.signatures.length + signed.notes.length > 0) {
    throw new Malformed('a commit that was not moved has signatures')
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
  const text = textOfUtf8(bytes, name)
  if (!text.endsWith('\n')) throw new Malformed(`${name} does not end with a newline`)
  return text.slice(0, -1).split('\n')
}

function formatRef(ref: PublishedRef | null): string {
  return ref === null ? '' : JSON.stringify([ref.ref, base64Of(ref.digest)])
}

function readRef(line: string): PublishedRef | null {
  if (line === '') return null
  const of = objectOfJson(line, 'refs')
  const ref = { ref: textIn(of, '0'), digest: bytesOfBase64(of['1'], 'refs') }
  if (ref.digest.length > DIGEST_BYTES_MAX) throw new Malformed('refs has a digest that is too long')
  return inOneForm(ref, formatRef, line, 'refs')
}

function formatSignature(size: number, bytes: Uint8Array): string {
  return JSON.stringify([size, base64Of(bytes)])
}

function readSignature(line: string): MovedSignatures['signatures'][number] {
  const of = objectOfJson(line, 'signatures')
  const signature = { size: countIn(of, '0'), bytes: bytesOfBase64(of['1'], 'signatures') }
  return inOneForm(signature, ({ size, bytes }) => formatSignature(size, bytes), line, 'signatures')
}

function readNote(line: string): MovedSignatures['notes'][number] {
  const of = objectOfJson(line, 'notes')
  const note = { size: countIn(of, '0'), note: textIn(of, '1') }
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
  const of = objectOfJson(line, 'held')
  return inOneForm(readChange(of), formatHeldChange, line, 'held')
}

function readChange(of: Fields): HeldChange {
  const is = wordIn(of, 'is', CHANGES)
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
        state: wordIn(of, 'state', STATES),
        settledAt: momentIn(of, 'settledAt'),
        place: orNull(of, 'place', textIn),
        reason: textIn(of, 'reason'),
      }
    case 'vouch':
      return { is, seq: seqOf(countIn(of, 'seq', 1)), reason: textIn(of, 'reason'), at: momentIn(of, 'at') }
    case 'chain':
      return { is, id: textIn(of, 'id') }
  }
}

function readHeld(of: Fields): HeldDraft {
  const ref = textIn(objectOf(of['draft'], 'draft'), 'ref')
  return {
    id: countIn(of, 'id', 1),
    ref,
    draft: draftIn(of, ref),
    acceptedAt: momentIn(of, 'acceptedAt'),
    ...changeableIn({ ...NOTHING_LATER, ...of }),
  }
}

const NOTHING_LATER = { place: null, settledAt: null, vouch: null, reason: null } as const

function draftIn(of: Fields, ref: string): HeldDraft['draft'] {
  try {
    return parseStoredDraft(JSON.stringify(of['draft']), ref)
  } catch {
    throw new Malformed('draft is no draft')
  }
}

function changeableIn(of: Fields): Omit<HeldDraft, 'id' | 'ref' | 'draft' | 'acceptedAt'> {
  return {
    chain: wordIn(of, 'chain', WORDS),
    place: orNull(of, 'place', textIn),
    settledAt: orNull(of, 'settledAt', momentIn),
    vouch: orNull(of, 'vouch', textIn),
    reason: orNull(of, 'reason', textIn),
  }
}

function idsIn(of: Fields): readonly number[] {
  const ids = listIn(of, 'ids')
  return ids.map((_, index) => countIn({ ids: ids[index] }, 'ids', 1))
}

function momentIn(of: Fields, name: string): Ms {
  const ms = countIn(of, name)
  if (ms > MS_MAX) throw new Malformed(`${name} is no moment`)
  return msOf(ms)
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Refuses a line that is not written as Daybook writes the value, so that a message has one form. */
function inOneForm<Value>(value: Value, format: (value: Value) => string, line: string, name: string): Value {
  if (format(value) !== line) throw new Malformed(`${name} has a line that is not in its one form`)
  return value
}
