import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { DAY_MS, formatAt, msOf } from '../../src/protocol/moment.ts'
import { importFiles } from '../../src/publish/import/import.ts'
import {
  ask,
  askedPaths,
  isKept,
  KEPT_LOG,
  type KeptAnswer,
  packStore,
  unpackKept,
  writeAnswers,
} from '../books/kept-store.ts'
import { startManualNode, manualContext } from '../stage/manual-node.ts'

// Makes the kept store of the present schema, and its answers (see README.md beside this file).

type Draft = Readonly<Record<string, unknown>>
/** Drafts of one request, and its moment. */
type Request = Readonly<{ at: number; drafts: readonly Draft[] }>

const APRIL = Date.UTC(2026, 3, 1)
/** Drafts of the golden month to import. The others are published one by one, so that the service closes March. */
const IMPORTED_FIRST = 41
/** Plays of April, enough to end a segment of its file within the month. */
const PLAYS = 4_100
const PLAYS_FROM = APRIL + 4 * DAY_MS
const EVERY_MS = 15_000
/** Plays within one minute, more than a chunk of totals has, and plays of one request. */
const CROWD = 300
const CROWD_REQUEST = 100
const CROWD_AT = Date.UTC(2026, 3, 20, 10, 5)

function goldenDrafts(): readonly Draft[] {
  const text = readFileSync(join(import.meta.dirname, '..', 'golden', 'drafts.jsonl'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line): Draft => JSON.parse(line))
}

/** A draft in the form of the publish API, without its moment. */
function asRequest({ at, ...draft }: Draft): Request {
  return { at: Date.parse(String(at)), drafts: [draft] }
}

function play(index: number, contestId: number): Draft {
  const kind = ['entry', 'vote', 'boost'][index % 3]
  const count = index % 7 === 0 ? { details: { count: (index % 5) + 1 } } : {}
  return { type: 'play', kind, contestId, kots: `${(index % 13) + 1}.${(index % 10) + 1}`, ...count }
}

/** Two contests of April and their plays. One ends with open prizes, the other still runs. */
function april(): readonly Draft[] {
  const contest = (day: number, kind: string, contestId: number, details?: Draft): Draft => ({
    at: formatAt(msOf(APRIL + day * DAY_MS)),
    ref: `april-${contestId}-${kind}`,
    type: 'contest',
    kind,
    contestId,
    ...(details === undefined ? {} : { details }),
  })
  const plan = (opens: number, closes: number, title: string): Draft => ({
    title,
    opensAt: formatAt(msOf(APRIL + opens * DAY_MS)),
    closesAt: formatAt(msOf(APRIL + closes * DAY_MS)),
  })
  return [
    contest(2, 'scheduled', 4, plan(4, 30, 'Long run')),
    contest(2, 'scheduled', 5, plan(25, 28, 'Later')),
    contest(3, 'opened', 3),
    { ...contest(3, 'top_up', 3), type: 'pool', kots: '900' },
    { ...contest(3, 'entry', 3), type: 'play', kots: '7.5' },
    contest(4, 'opened', 4),
    ...Array.from({ length: PLAYS }, (_, index) => ({
      at: formatAt(msOf(PLAYS_FROM + index * EVERY_MS)),
      ...play(index, 4),
    })),
  ]
}

/** Prizes of contest 3 in every status of an unpaid prize, and a minute with many events. */
function afterApril(): readonly Request[] {
  const prize = (kind: string, details?: Draft): Draft => ({
    ref: `prize-${kind}`,
    type: 'prize',
    kind,
    contestId: 3,
    kots: '200',
    ...(details === undefined ? {} : { details }),
  })
  const said = (drafts: readonly Draft[], minute: number): Request => ({
    at: Date.UTC(2026, 3, 20, 9, minute),
    drafts,
  })
  const crowd = Array.from({ length: CROWD }, (_, index) => ({ ref: `crowd-${index}`, ...play(index, 4) }))
  return [
    said([{ ref: 'closed-3', type: 'contest', kind: 'closed', contestId: 3 }], 0),
    said(
      [
        prize('winner', { unlocksAt: '2026-05-01T00:00:00.000Z', winners: 2 }),
        prize('runner_up', { reviewUntil: '2026-04-21T00:00:00.000Z' }),
        prize('voter_share', { claim: true }),
        prize('lucky_draw'),
      ],
      1,
    ),
    said(
      [
        {
          ref: 'held-3',
          type: 'hold',
          kind: 'winner',
          contestId: 3,
          details: { reviewUntil: '2026-04-30T00:00:00.000Z' },
        },
        {
          ref: 'loyalty-4',
          type: 'loyalty',
          kind: 'scheduled',
          details: { month: '2026-04', paysAt: '2026-04-30T12:00:00.000Z' },
        },
      ],
      2,
    ),
    ...Array.from({ length: CROWD / CROWD_REQUEST }, (_, index) => ({
      at: CROWD_AT + index,
      drafts: crowd.slice(index * CROWD_REQUEST, (index + 1) * CROWD_REQUEST),
    })),
  ]
}

/** Events after the key has been changed for good. */
const LAST: readonly Request[] = [
  {
    at: Date.UTC(2026, 3, 20, 11),
    drafts: [
      { ref: 'price-last', type: 'price', kind: 'usd', details: { price: '0.031' } },
      { ref: 'burn-last', type: 'burn', kind: 'platform_income', kots: '12' },
      { ref: 'trade-last', type: 'trade', kind: 'sell', kots: '3.25' },
    ],
  },
]

async function importDrafts(data: string, drafts: readonly Draft[], key: SigningKey): Promise<void> {
  const file = `${data}.drafts.jsonl`
  writeFileSync(file, drafts.map((draft) => JSON.stringify(draft)).join('\n'))
  const now = msOf(APRIL + 30 * DAY_MS)
  const { monotonicMs, stop } = manualContext(() => now)
  const outcome = await importFiles({
    files: [file],
    dataDirectory: data,
    newLog: KEPT_LOG,
    keys: [key],
    balances: 'refuse',
    now,
    monotonicMs,
    onProgress: () => undefined,
    signal: stop,
  })
  if (!outcome.ok) throw new Error(`line ${outcome.line}, ${outcome.field}: ${outcome.reason}`)
}

async function publishAll(
  data: string,
  requests: readonly Request[],
  keys: readonly SigningKey[],
): Promise<void> {
  await using service = await startManualNode(data, KEPT_LOG, keys, msOf(APRIL))
  for (const { at, drafts } of requests) await service.publish(drafts, msOf(at))
}

/** A log that was imported, published, imported into, and signed by an old key, by both keys, and by the new one. */
async function makeStore(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-make-'))
  const data = join(folder, 'data')
  const newKeyFile = join(folder, 'new.key')
  const oldKey = makeKeyFile(join(folder, 'old.key'), '--to')
  const newKey = makeKeyFile(newKeyFile, '--to')
  const golden = goldenDrafts()
  try {
    await importDrafts(data, golden.slice(0, IMPORTED_FIRST), oldKey)
    await publishAll(data, golden.slice(IMPORTED_FIRST).map(asRequest), [oldKey])
    await importDrafts(data, april(), oldKey)
    await publishAll(data, afterApril(), [oldKey, newKey])
    await publishAll(data, LAST, [newKey])
    packStore(SCHEMA_VERSION, data, newKeyFile)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function recordAnswers(): Promise<void> {
  using kept = unpackKept(SCHEMA_VERSION)
  await using service = await kept.serve()
  const answers: KeptAnswer[] = []
  for (const path of askedPaths()) answers.push(await ask(service, path))
  writeAnswers(SCHEMA_VERSION, answers)
}

if (!isKept(SCHEMA_VERSION)) await makeStore()
await recordAnswers()
