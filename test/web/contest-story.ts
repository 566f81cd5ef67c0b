import assert from 'node:assert/strict'
import type { Details } from '../../src/protocol/details.ts'
import { HOUR_MS, type Ms, msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { parseExplorer } from '../../src/web/markup/site.ts'
import { assertParity, sourcesOf } from './parity/parity.ts'
import { LAUNCH, plan, type StoryEvent } from '../story/api-story.ts'
import { openApiStage } from '../stage/api-stage.ts'

// Events of one contest, for tests of its pages.

export const TX = 'transaction-0001'
export const deposit: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
export const pool: StoryEvent = { type: 'pool', kind: 'top_up', contestId: 1, kots: '100' }
export const opened: StoryEvent = { type: 'contest', kind: 'opened', contestId: 1 }
export const closed: StoryEvent = { type: 'contest', kind: 'closed', contestId: 1 }
export const paid: StoryEvent = { type: 'contest', kind: 'paid', contestId: 1 }
export const prize: StoryEvent = { type: 'prize', kind: 'winner', contestId: 1, kots: '100' }
export const running: readonly StoryEvent[] = [deposit, plan(1, 'First', HOUR_MS), opened, pool]

/** Correction of the event with this seq. */
export const correction = (type: string, kots: string, corrects: number): StoryEvent => ({
  type: 'correction',
  kind: type,
  contestId: 1,
  kots,
  details: { corrects: seqOf(corrects) },
})

export const payout = (kots: string, kind = 'winner'): StoryEvent => ({
  type: 'payout',
  kind,
  contestId: 1,
  kots,
  tx: TX,
})

export const expiry = (kots: string): StoryEvent => ({ type: 'expiry', kind: 'winner', contestId: 1, kots })

/** A smaller prize in place of the one with seq 6. */
export const smaller: StoryEvent = { ...prize, kots: '80', details: { restates: seqOf(6) } }

/** A page of a log with these events, compared with its JSON. */
export async function seeContest(
  path: string,
  story: readonly StoryEvent[],
  apartMs?: number,
): Promise<string> {
  const explorer = parseExplorer('https://explorer.example/tx/{tx}?of={tx}')
  assert.ok(explorer !== undefined)
  await using stage = await openApiStage({
    story,
    site: { explorers: [explorer] },
    ...(apartMs === undefined ? {} : { apartMs }),
  })
  const page = await (await stage.get(path)).text()
  const answers = sourcesOf(page).map(async (source) => (await stage.get(source)).text())
  assertParity(page, await Promise.all(answers))
  return page
}

export const cancelled: readonly StoryEvent[] = [
  deposit,
  plan(1, 'First', HOUR_MS),
  pool,
  { type: 'contest', kind: 'cancelled', contestId: 1 },
]

/** A prize whose terms end in hours after the launch. The present is two days after it. */
export const termed = (kots: string, kind: string, terms: Details): StoryEvent => ({
  type: 'prize',
  kind,
  contestId: 1,
  kots,
  details: terms,
})

/** Hours after the launch. */
export const hoursIn = (hours: number): Ms => msOf(LAUNCH + hours * HOUR_MS)

/** Words of markup, with its hidden decimals left out. */
export function wordsOf(markup: string): string {
  return markup
    .replaceAll(/<i>[^<]*<\/i>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
