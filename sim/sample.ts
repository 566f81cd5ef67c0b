import { DAY_MS, msOf } from '../src/protocol/moment.ts'
import { history } from './history.ts'

/** The committed sample's settings: thirty-seven days over a turn of the month, at a small scale. */
const FROM = Date.UTC(2026, 6, 20)
const DAYS = 37

/** The text of `test/sample/sample.drafts.jsonl`, byte for byte. */
export function sampleText(): string {
  let text = ''
  for (const draft of history({
    seed: 'sample',
    from: msOf(FROM),
    to: msOf(FROM + DAYS * DAY_MS),
    scale: 0.04,
  })) {
    text += `${JSON.stringify(draft)}\n`
  }
  return text
}
