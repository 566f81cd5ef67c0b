import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { writeDrafts } from '../../sim/draft-file.ts'
import { history, HISTORY_MS } from '../../sim/history.ts'
import type { ImportDraft } from '../../sim/import-draft.ts'
import { DAY_MS, formatAt, msOf } from '../../src/protocol/moment.ts'
import { draftsFolder, type Input } from '../oracle/input.ts'
import { bookOf, expectedOf } from '../oracle/expected.ts'

const TO = Date.UTC(2026, 5, 12, 0, 11, 52)
/** Days between those that are published at once, as by a platform that settles in batches. */
const BATCH_EVERY_DAYS = 7

/** Three months of the simulated platform, about 65,000 drafts. */
export function generatedDrafts(seed: string): readonly ImportDraft[] {
  return [...history({ seed, from: msOf(TO - HISTORY_MS), to: msOf(TO) })].map(inBatches)
}

/** The drafts as a data set. The oracle computes its figures from the drafts alone. */
export async function openGeneratedInput(seed: string): Promise<Input> {
  const drafts = generatedDrafts(seed)
  const folder = await draftsFolder()
  await writeDrafts(createWriteStream(folder.drafts), drafts)
  return { ...folder, expected: expectedOf(bookOf(drafts)) }
}

/** Gives the drafts of one day in seven the same millisecond, and their transfers one transaction a month. */
function inBatches(draft: ImportDraft): ImportDraft {
  const day = Math.floor(Date.parse(draft.at) / DAY_MS)
  if (day % BATCH_EVERY_DAYS !== 0) return draft
  const at = formatAt(msOf(day * DAY_MS))
  if (draft.tx === undefined) return { ...draft, at }
  return { ...draft, at, tx: createHash('sha256').update(at.slice(0, 7)).digest('hex') }
}
