import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { base58 } from '@scure/base'
import { type Random, randomOf } from '../sim/random.ts'
import { type Appender, openAppender } from '../src/log/append.ts'
import { openReader } from '../src/log/open-reader.ts'
import { openForWriting, storePath } from '../src/log/store/store.ts'
import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, type Ms, msOf } from '../src/protocol/moment.ts'
import { type ContestId, contestIdOf, type Seq } from '../src/protocol/seq.ts'
import { draftDigest, parseDraft } from '../src/publish/admission/grammar.ts'
import { testSigner } from '../test/story/signing.ts'
import { bigStore } from './stage/big-store.ts'
import { share } from './stage/measure.ts'
import { pageNames, readWal, shapeOf } from './publish/publish-wal.ts'
import { benchSettings, sayBuilding, table, thousands } from './stage/report.ts'

/** Measures what a commit of one event writes to the write-ahead log, by kind of event, on a large log. */

/** Goal in bytes of a commit's frames. */
const GOAL_BYTES = 24 * 1024
/** Rounds. Each takes a random contest and publishes events of each kind in it. */
const ROUNDS = 1_500
/** Uncounted first rounds. An import leaves full pages, and each page is split once. */
const WARM_UP_ROUNDS = ROUNDS
/** Mean pause between two commits. One commit in three begins a minute, and so writes a row of prefix totals. */
const PACE_MS = 20_000
/** Amount of a prize. Some payouts pay a third of one. */
const PRIZE_KOTS = 90

type Body = Readonly<Record<string, unknown>>
/** An event for a commit of its own, and its name in the table. */
type Step = Readonly<{ name: string; body: Body }>
/** The name of a commit's event, and the pages that the commit wrote. */
type Written = Readonly<{ name: string; pages: readonly number[] }>

const settings = benchSettings(join(tmpdir(), 'daybook-bench'))
process.stdout.write(`${kinds(settings.store, settings.events)}\n`)

function kinds(store: string, events: number): string {
  const built = bigStore(store, events, sayBuilding(events))
  const directory = mkdtempSync(join(store, 'publish-kinds-'))
  try {
    copyFileSync(storePath(built), storePath(directory))
    const { frameBytes, written } = publishAll(directory)
    return reportOf(events, frameBytes, written, pageNames(storePath(directory)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Publishes events, each in a commit of its own, and reads the pages that the commits wrote. */
function publishAll(directory: string): Readonly<{ frameBytes: number; written: readonly Written[] }> {
  const { paying, running, at } = contestsOf(directory)
  const db = openForWriting(storePath(directory))
  // Turns off checkpoints, so that every frame can be read. The disk is not measured.
  db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF')
  const appender = openAppender(db, testSigner(db))
  const random = randomOf('publish kinds')
  const publish = openPublish(appender, at, random)
  publish({ type: 'treasury', kind: 'deposit', kots: '99999999' })
  const names: string[] = []
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    if (round === 0) {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      names.length = 0
    }
    const contests = { paying: pick(random, paying), running: pick(random, running) }
    const story = storyOf(contests, random, () => appender.head().atMs ?? msOf(0))
    let seq: Seq = appender.head().seq
    for (let step = story.next(seq); step.done !== true; step = story.next(seq)) {
      seq = publish(step.value.body)
      names.push(step.value.name)
    }
  }
  const { frameBytes, commits } = readWal(`${storePath(directory)}-wal`)
  close(db)
  const written = commits.map((pages, index) => ({ name: names[index] ?? '', pages }))
  if (written.length !== names.length) throw new Error('every commit is in the write-ahead log')
  return { frameBytes, written }
}

function close(db: DatabaseSync): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Contests of the log that are paying and running, and the moment of the last event. */
function contestsOf(
  directory: string,
): Readonly<{ paying: readonly ContestId[]; running: readonly ContestId[]; at: Ms }> {
  const reader = openReader(directory, null)
  const of = reader.snapshot(({ books, head }) => {
    const ids = (status: 'paying' | 'running'): readonly ContestId[] =>
      books.contests({ statuses: [status], after: null, limit: 1_000 }).map(({ id }) => contestIdOf(id))
    return { paying: ids('paying'), running: ids('running'), at: head.atMs ?? msOf(0) }
  })
  reader.close()
  return of
}

/** Publishes drafts, each in its own commit, and returns their seqs. */
function openPublish(appender: Appender, from: Ms, random: Random): (body: Body) => Seq {
  let at: number = from
  return (body) => {
    at += random.between(1, 2 * PACE_MS)
    const ref = `${String(body['type'])}-${String(body['kind'])}-${at}`
    const parsed = parseDraft({ ref, ...body }, { chain: 'solana', mode: 'publish' })
    if (!parsed.ok) throw new Error(`${parsed.field}: ${parsed.reason}`)
    appender.begin()
    const { seq } = appender.append(parsed.draft, { ref, digest: draftDigest(parsed.draft) }, msOf(at))
    appender.keep()
    appender.commit()
    return seq
  }
}

/** Events of one round. `yield` returns the seq of each. */
function* storyOf(
  contests: Readonly<{ paying: ContestId; running: ContestId }>,
  random: Random,
  now: () => Ms,
): Generator<Step, void, Seq> {
  const of = { contestId: contests.paying }
  const tx = (): string => base58.encode(random.bytes(64))
  const play = { type: 'play', kind: 'vote', contestId: contests.running, kots: `${random.between(1, 9)}.25` }
  // The number of plays varies, so that full pages are met by all kinds of event.
  for (let plays = random.between(0, 5); plays > 0; plays--) yield { name: 'play', body: play }
  const played: Seq = yield { name: 'play', body: play }
  yield { name: 'pool', body: { type: 'pool', kind: 'top_up', ...of, kots: '1000.5' } }
  const won = { type: 'prize', kind: 'winner', ...of, kots: String(PRIZE_KOTS) }
  yield { name: 'prize', body: won }
  yield { name: 'prize', body: won }
  const terms = {
    unlocksAt: formatAt(msOf(now() + random.between(1, 5_000) * MINUTE_MS)),
    reviewUntil: formatAt(msOf(now() + 4 * DAY_MS + random.between(1, 500) * HOUR_MS)),
    claim: random.chance(0.5),
    winners: random.between(1, 500),
  }
  yield { name: 'prize with terms', body: { ...won, details: terms } }
  const paid = { type: 'payout', kind: 'winner', ...of }
  const part = String(PRIZE_KOTS / 3)
  yield { name: 'payout of a part', body: { ...paid, kots: part, tx: tx() } }
  const second: Seq = yield { name: 'payout of a part', body: { ...paid, kots: part, tx: tx() } }
  yield { name: 'payout of the rest', body: { ...paid, kots: part, tx: tx() } }
  yield { name: 'payout of a whole prize', body: { ...paid, kots: String(PRIZE_KOTS), tx: tx() } }
  yield { name: 'expiry', body: { type: 'expiry', kind: 'winner', ...of, kots: part } }
  const details = { corrects: second }
  yield {
    name: 'correction of a payout',
    body: { ...of, type: 'correction', kind: 'payout', kots: `-${part}`, details },
  }
  yield {
    name: 'correction of a play',
    body: { ...play, type: 'correction', kind: 'play', kots: `-${play.kots}`, details: { corrects: played } },
  }
}

function reportOf(
  events: number,
  frameBytes: number,
  written: readonly Written[],
  nameOf: (page: number) => string,
): string {
  const kib = (bytes: number): string => (bytes / 1024).toFixed(1)
  const byName = Map.groupBy(written, ({ name }) => name)
  const rows = [...byName].map(([name, commits]) => {
    const sizes = commits.map(({ pages }) => pages.length * frameBytes)
    const p99 = share(sizes, 0.99)
    const shapes = Map.groupBy(commits, ({ pages }) => shapeOf(pages, nameOf))
    const [shape = ''] = [...shapes].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? []
    return [
      name,
      kib(share(sizes, 0.5)),
      kib(p99),
      kib(share(sizes, 1)),
      p99 <= GOAL_BYTES ? 'OK' : 'OVER',
      shape,
    ]
  })
  return [
    `## What a commit of one event writes, on a log of ${thousands(events)} events`,
    '',
    `KiB of frames in the write-ahead log, by the kind of event: ${thousands(written.length)} commits, ${PACE_MS / 1_000} s apart on average, in contests that are taken at random, after as many that do not count. The goal is ${kib(GOAL_BYTES)} in 99 of 100. Last, what commits of the kind write most often, as pages of each table: now and then a page that is full is split, and takes its neighbours and the page above along.`,
    '',
    table(['event', 'median', 'p99', 'max', 'held', 'pages, most often'], rows),
    '',
    `Median of all these commits: ${share(
      written.map(({ pages }) => pages.length),
      0.5,
    )} pages.`,
    '',
  ].join('\n')
}

function pick<Value>(random: Random, from: readonly Value[]): Value {
  const value = from[random.between(0, from.length - 1)]
  if (value === undefined) throw new Error('the log has contests that pay and that run')
  return value
}
