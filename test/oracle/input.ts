import { createReadStream, createWriteStream, globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ServiceOptions } from '../stage/service.ts'

/** Amounts of a bucket. A missing one is zero. */
export type Figures = Readonly<Partial<Record<'spentOnPlay' | 'paidInPrizes' | 'burned', string>>>

/** One contest at the end of the log. `owed` and `redeemed` are by kind of prize. */
export type ExpectedContest = Readonly<{
  status: string
  pool: string
  plays: number
  spentOnPlay: string
  owed: Readonly<Record<string, string>>
  redeemed: Readonly<Record<string, string>>
}>

/** Figures that an independent program computed from the drafts: `NAME.expected.json` of a data set. */
export type Expected = Readonly<{
  /** Chain of the import; `opaque` by default. */
  chain?: NonNullable<ServiceOptions['chain']>
  events: number
  /** Events with an amount other than zero. */
  nonzero: number
  /** Moments of the first and the last event. */
  first: string
  last: string
  /** By `type/kind`. A kind without amounts has no sum. */
  countByTypeKind: Readonly<Record<string, number>>
  sumByTypeKind: Readonly<Record<string, string>>
  /** By `yyyy-mm`. */
  eventsByMonth: Readonly<Record<string, number>>
  /** By id. */
  contests: Readonly<Record<string, ExpectedContest>>
  /** By the first moment of the bucket. Buckets of zeros are missing. */
  flowsByDay: Readonly<Record<string, Figures>>
  flowsByWeek: Readonly<Record<string, Figures>>
  flowsByHour: Readonly<Record<string, Figures>>
  /** By minutes ahead of UTC, then by day of the week and hour: `1-09` is Monday from nine to ten. */
  patterns: Readonly<Record<string, Readonly<Record<string, Figures>>>>
}>

/** A file of drafts in import form, and the expected figures of a service with these drafts. */
export type Input = AsyncDisposable & Readonly<{ drafts: string; expected: Expected }>

/** A new folder for a file of drafts, removed by `Symbol.asyncDispose`. */
export async function draftsFolder(): Promise<AsyncDisposable & Readonly<{ drafts: string }>> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-drafts-'))
  return {
    drafts: join(folder, 'drafts.jsonl'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Opens the one data set of a folder: `NAME.drafts.jsonl.gz` and `NAME.expected.json`. */
export async function openInput(folder: string): Promise<Input> {
  const [packed, ...others] = globSync(join(folder, '*.drafts.jsonl.gz'))
  if (packed === undefined || others.length > 0) {
    throw new Error(
      `${folder} must hold one NAME.drafts.jsonl.gz, and holds ${packed === undefined ? 0 : 1 + others.length}`,
    )
  }
  const expected = JSON.parse(
    readFileSync(packed.replace(/\.drafts\.jsonl\.gz$/, '.expected.json'), 'utf8'),
  ) as Expected
  const unpacked = await draftsFolder()
  await pipeline(createReadStream(packed), createGunzip(), createWriteStream(unpacked.drafts))
  return { ...unpacked, expected }
}
