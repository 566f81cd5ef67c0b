import { parsed } from '../../protocol/problem.ts'
import { seqOf } from '../../protocol/seq.ts'
import { eventCorrections } from '../../project/answers/event-corrections.ts'
import { WrongError } from '../reading/finding.ts'
import { isJsonObject, objectsOf, readObject, jsonInteger } from '../reading/json-values.ts'
import type { VerifyQuestion } from './range-questions.ts'
import type { Source } from '../reading/source.ts'

/** Number of corrections that are checked. */
const CORRECTIONS = 3

/** Questions about the corrections of a few corrected events, and of one random event. */
export async function correctionQuestions(
  { source, chance }: Readonly<{ source: Source; chance: () => number }>,
  size: number,
): Promise<readonly VerifyQuestion[]> {
  const before = 2 + Math.floor(chance() * size)
  const found = await correctionsBefore(source, before)
  const picked = found.length > 0 ? found : await correctionsBefore(source, size + 1)
  const corrected = await Promise.all(picked.map((seq) => correctedBy(source, seq)))
  const any = 1 + Math.floor(chance() * size)
  return [...new Set([...corrected, any])].map(questionOf)
}

/** Seqs of the newest corrections before a seq. The list is not trusted: it only selects the questions. */
async function correctionsBefore(source: Source, before: number): Promise<readonly number[]> {
  const path = `events?type=correction&order=desc&before=${before}&limit=${CORRECTIONS}`
  const body = await source.read(path)
  const events = body === undefined ? undefined : objectsOf(readObject(path, body)['events'])
  if (events === undefined || events.length > CORRECTIONS) throw new WrongError(path, 'lacks its events')
  return events.map((event) => seqIn(path, event['seq']))
}

async function correctedBy(source: Source, seq: number): Promise<number> {
  const path = `events/${seq}/details`
  const { details } = readObject(path, (await source.read(path, seq)) ?? new Uint8Array(0))
  return seqIn(path, isJsonObject(details) ? details['corrects'] : undefined)
}

function seqIn(path: string, value: unknown): number {
  const seq = jsonInteger(value)
  if (seq === undefined || seq < 1) throw new WrongError(path, 'does not name an event where it must')
  return seq
}

function questionOf(seq: number): VerifyQuestion {
  return {
    check: 'corrections',
    path: `events/${seq}/corrections`,
    seq: null,
    moments: () => [],
    recompute: (books) => parsed(eventCorrections(books, seqOf(seq))),
  }
}
