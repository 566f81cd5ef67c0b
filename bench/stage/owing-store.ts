import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { openAppender } from '../../src/log/append.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import { DAY_MS, formatAt, MINUTE_MS, type Ms, msOf } from '../../src/protocol/moment.ts'
import { draftDigest, parseDraft } from '../../src/publish/admission/grammar.ts'
import { testSigner } from '../../test/story/signing.ts'
import type { DraftBody } from './big-drafts.ts'
import { bigStore } from './big-store.ts'

/** Contests that owe prizes, each with its own terms. Their ids are above those of a big store. */
export const OWING = {
  most: { contestId: 9_000_001, prizes: 50_000 },
  some: { contestId: 9_000_002, prizes: 2_000 },
  few: { contestId: 9_000_003, prizes: 110 },
} as const
export const OWED_PRIZES: number = Object.values(OWING).reduce((sum, { prizes }) => sum + prizes, 0)

/** Some years ahead, so that calendars list the dates. */
const UNLOCKS_FROM = Date.UTC(2030, 0, 1)
/** Version of the drafts. */
const DRAFTS_VERSION = 1
const KEEP_EVERY = 2_000

/** Data directory of a big store that ends with contests that have many open prizes; built if it does not exist. */
export function owingStore(directory: string, count: number, report: (events: number) => void): string {
  const big = bigStore(directory, count, report)
  const data = `${big}-owing-v${DRAFTS_VERSION}`
  if (existsSync(storePath(data))) return data
  const building = `${data}.building`
  rmSync(building, { recursive: true, force: true })
  mkdirSync(building)
  copyFileSync(storePath(big), storePath(building))
  append(storePath(building))
  copyFileSync(`${big}.key`, `${data}.key`)
  renameSync(building, data)
  return data
}

function append(path: string): void {
  const db = openForWriting(path)
  const appender = openAppender(db, testSigner(db))
  appender.begin()
  // A moment after the last event, since moments never go back.
  const ms = msOf((appender.head().atMs ?? 0) + MINUTE_MS)
  for (const draft of drafts(ms)) {
    const ref = `owing-${appender.head().seq + 1}`
    const parsed = parseDraft({ ref, ...draft }, { chain: 'solana', mode: 'publish' })
    if (!parsed.ok) throw new Error(`${ref}, ${parsed.field}: ${parsed.reason}`)
    appender.append(parsed.draft, { ref, digest: draftDigest(parsed.draft) }, ms)
    if (appender.head().seq % KEEP_EVERY === 0) appender.keep()
  }
  appender.keep()
  appender.commit()
  db.close()
}

function* drafts(ms: Ms): Generator<DraftBody> {
  for (const { contestId, prizes } of Object.values(OWING)) {
    const details = {
      title: `Owes ${prizes} prizes`,
      opensAt: formatAt(ms),
      closesAt: formatAt(msOf(ms + DAY_MS)),
    }
    yield { type: 'contest', kind: 'scheduled', contestId, details }
    yield { type: 'contest', kind: 'opened', contestId }
    yield { type: 'pool', kind: 'sponsor', contestId, kots: `${prizes}.000000000` }
    yield { type: 'contest', kind: 'closed', contestId }
    for (let prize = 1; prize <= prizes; prize++) {
      const unlocksAt = formatAt(msOf(UNLOCKS_FROM + prize * MINUTE_MS))
      yield { type: 'prize', kind: 'winner', contestId, kots: '1.000000000', details: { unlocksAt } }
    }
  }
}
