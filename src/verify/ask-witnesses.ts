import { type Checkpoint, readCheckpoint } from '../tlog/checkpoint.ts'
import { openVouching, witnessNames } from '../tlog/quorum.ts'
import { formatHex, formatUtf8 } from '../tlog/text.ts'
import { DOUBTS } from '../tlog/verdict.ts'
import type { VerifierKey } from '../tlog/vkey.ts'
import { type Finding, findingOf } from './reading/finding.ts'
import type { Primitives } from './reading/primitives.ts'
import type { Source } from './reading/source.ts'
import { openListed, type Trust } from './trust.ts'
import {
  openWitnessedNote,
  type WitnessDemand,
  WITNESSED_PATH,
  type WitnessedNote,
} from './witnessed-note.ts'

/** Answer at an address of a witness: a body, none (404), or a reason why there is no answer. */
export type WitnessAnswer =
  | Readonly<{ is: 'note'; body: Uint8Array }>
  | Readonly<{ is: 'none' }>
  | Readonly<{ is: 'silent'; why: string }>

/** Witnesses that a reader has chosen. Those with an address are asked themselves. */
export type WitnessQuestions = WitnessDemand &
  Readonly<{
    /** Addresses below which witnesses answer, without a slash at the end, with the keys of each. */
    asked: readonly Readonly<{ url: string; keys: readonly VerifierKey[] }>[]
    /** Asks a witness for a note. Bounds the bytes and the time of the answer. */
    ask(address: string): Promise<WitnessAnswer>
  }>

/** Tree that a witness was shown. */
export type WitnessView = Readonly<{
  /** Name of the witness. */
  name: string
  note: Uint8Array
  checkpoint: Checkpoint
  /** Whether a key of the log has signed it, so that it proves something to others too. */
  isSigned: boolean
}>

/** Answers of the log and of the witnesses, before they are compared with the log's entries. */
export type CollectedWitnesses = Readonly<{
  /** Null when there is none, or when it is wrong. */
  witnessed: WitnessedNote | null
  wrong: Finding | null
  views: readonly WitnessView[]
  /** Notes about witnesses whose own answer says nothing. */
  notes: readonly string[]
}>

/** Asks the log for its witnessed checkpoint and, for a service, the witnesses themselves. */
export async function askWitnesses(
  source: Source,
  trust: Trust,
  questions: WitnessQuestions,
  primitives: Primitives,
): Promise<CollectedWitnesses> {
  const asked = source.is === 'service' ? questions.asked : []
  const path = `${formatHex(primitives.sha256(formatUtf8(trust.origin)))}/checkpoint`
  const answers = asked.map(async ({ url, keys }) => {
    const name = witnessNames(keys).join(' and ')
    const answer = await questions.ask(`${url}/${path}`)
    const { view, note } = await viewOf(name, keys, answer, trust, primitives)
    return { view, note: note === null ? null : `witness ${name} ${note}` }
  })
  const [own, ...read] = await Promise.all([witnessedOf(source, trust, questions, primitives), ...answers])
  return {
    ...own,
    views: read.flatMap(({ view }) => view ?? []),
    notes: read.flatMap(({ note }) => note ?? []),
  }
}

async function witnessedOf(
  source: Source,
  trust: Trust,
  demand: WitnessDemand,
  primitives: Primitives,
): Promise<Pick<CollectedWitnesses, 'witnessed' | 'wrong'>> {
  try {
    const note = await source.read(WITNESSED_PATH)
    return {
      witnessed: note === undefined ? null : await openWitnessedNote(note, trust, demand.keys, primitives),
      wrong: null,
    }
  } catch (error) {
    return { witnessed: null, wrong: findingOf(error) }
  }
}

/**
 * Reads the answer of a witness. A checkpoint that either the log or the witness has signed is compared with the log: if
 * both signatures were needed, a log could sign in a form that hides the other tree.
 */
async function viewOf(
  name: string,
  keys: readonly VerifierKey[],
  answer: WitnessAnswer,
  trust: Trust,
  primitives: Primitives,
): Promise<Readonly<{ view: WitnessView | null; note: string | null }>> {
  const none = (note: string): Readonly<{ view: null; note: string }> => ({ view: null, note })
  if (answer.is === 'silent') return none(`does not answer: ${answer.why}`)
  if (answer.is === 'none') return none('has cosigned no checkpoint of this log')
  const read = readCheckpoint(answer.body)
  if (!read.ok) return none(`answers with something else: ${DOUBTS[read.doubt]}`)
  const { checkpoint, note } = read.value
  if (checkpoint.origin !== trust.origin) return none('answers with a checkpoint of another log')
  const isSigned = (await openListed(answer.body, trust, primitives)).ok
  const opened = await openVouching(note, keys, primitives)
  const vouching = opened.ok ? opened.value : { vouchers: [], unverified: [] }
  const isCosigned = vouching.vouchers.length > 0
  if (!isSigned && !isCosigned)
    return none('answers with a checkpoint that neither the log nor it has signed')
  const view: WitnessView = { name, note: answer.body, checkpoint, isSigned }
  if (!isSigned) return { view, note: 'answers with a checkpoint that no known key of the log has signed' }
  if (isCosigned) return { view, note: null }
  return {
    view,
    note:
      vouching.unverified.length > 0
        ? 'answers with a signature of ML-DSA-44, which cannot be verified here'
        : 'answers with a checkpoint that it has not cosigned',
  }
}
