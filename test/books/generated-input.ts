import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { writeDrafts } from '../../sim/draft-file.ts'
import { history, HISTORY_MS } from '../../sim/history.ts'
import type { ImportDraft } from '../../sim/import-draft.ts'
import { DAY_MS, formatAt, msOf } from '../../src/protocol/moment.ts'
import type { Input } from '../oracle/input.ts'
import { draftsFolder } from '../oracle/input.ts'
import { bookOf, expectedOf } from '../oracle/expected.ts'

const TO = Date.UTC(2026, 5, 12, 0, 11, 52)
/** Days of which each last one is published at once, as a platform does that settles in batches. */
const BATCH_EVERY_DAYS = 7

/** Three months of the pretend platform, some 65,000 drafts. */
export function generatedDrafts(seed: string): readonly ImportDraft[] {
  return [...history({ seed, from: msOf(TO - HISTORY_MS), to: msOf(TO) })].map(inBatches)
}

/** The same as a data set: its figures are computed by the oracle, from the drafts alone. */
export async function openGeneratedInput(seed: string): Promise<Input> {
  const drafts = generatedDrafts(seed)
  const folder = await draftsFolder()
  await writeDrafts(createWriteStream(folder.drafts), drafts)
  return { ...folder, expected: expectedOf(bookOf(drafts)) }
}

/** The drafts of one day in seven share a millisecond, and the transfers of such days one batch identifier a month. */
function inBatches(draft: ImportDraft): ImportDraft {
  const day = Math.floor(Date.parse(draft.at) / DAY_MS)
  if (day % BATCH_EVERY_DAYS !== 0) return draft
  const at = formatAt(msOf(day * DAY_MS))
  if (draft.tx === undefined) return { ...draft, at }
  return { ...draft, at, tx: createHash('sha256').update(at.slice(0, 7)).digest('hex') }
}
