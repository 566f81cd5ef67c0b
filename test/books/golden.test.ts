import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { VERSION } from '../../src/command/terminal/version.ts'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { type EndpointId, pathParts } from '../../src/protocol/paths.ts'
import { openGoldenNode } from './golden-node.ts'
import { GOLDEN } from '../stage/places.ts'

// A change of a golden file is a change of the public format. To write the files again from drafts.jsonl, run
// `DAYBOOK_GOLDEN=write node --test test/books/golden.test.ts`. The commit must give reasons for every difference.

const WRITES = process.env['DAYBOOK_GOLDEN'] === 'write'
const DRAFTS = readFileSync(join(GOLDEN, 'drafts.jsonl'), 'utf8')
/** Drafts that are published up to the moment in the middle. */
const DRAFTS_TO_MIDDLE = 41
const MARCH = 'from=2026-03-01&to=2026-04-01'

/** Endpoints that the table below requests otherwise, and the descriptions of the interface. */
const OTHERWISE: ReadonlySet<EndpointId> = new Set<EndpointId>([
  'patterns',
  'events',
  'eventTypes',
  'logCheckpoint',
  'logWitnessedCheckpoint',
  'logKeys',
  'logWitnesses',
  'stream',
  'scheduleCalendar',
  'openapi',
  'asyncapi',
])

/** Requests without a query of every other endpoint whose path has no variable part, as JSON and as CSV. */
const PLAIN: Readonly<Record<string, string>> = Object.fromEntries(
  ENDPOINTS.filter(({ id, path }) => !OTHERWISE.has(id) && pathParts(path).length === 0).flatMap(
    ({ id, path, table }) => {
      const name = id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      const asked = path.replace('/api/v1', '')
      return [
        [`${name}.json`, asked],
        ...(table === undefined ? [] : [[`lists/${name}.csv`, `${asked}?format=csv`]]),
      ]
    },
  ),
)

/** Query of every resource by the file with its body. */
const RESOURCES: Readonly<Record<string, string>> = {
  ...PLAIN,
  'summary-at-an-earlier-moment.json': '/summary?at=2026-03-03T12:00Z',
  'summary-before-the-first-event.json': '/summary?at=2026-02-01',
  'contests-closed.json': '/contests?status=closed&limit=1',
  'lists/contests-by-pool.json': '/contests?sort=pool',
  'lists/contests-found.json': '/contests?q=NACHT+%E5%A4%9C&sort=closesAt',
  'contest.json': '/contests/1',
  'ledger.json': '/contests/1/ledger',
  'lists/ledger.csv': '/contests/1/ledger?format=csv',
  'schedule.ics': '/schedule.ics',
  'payouts-of-a-contest.json': '/payouts?contestId=1',
  'flows-by-month.json': '/flows?bucket=month',
  'flows-of-a-minute.json': '/flows?bucket=minute&from=2026-03-02T14:00Z&to=2026-03-02T14:20Z',
  'funds-by-month.json': '/funds?bucket=month',
  'patterns.json': '/patterns?tz=330',
  'lists/patterns.csv': '/patterns?tz=330&format=csv',
  'events/events.json': '/events?after=10&limit=12',
  'events/events-filtered.json': '/events?type=payout,correction&nonzero=1&order=desc&before=40&limit=5',
  'events/events-from-a-moment.json':
    '/events?from=2026-03-05T09:00:30.500Z&to=2026-03-06T11:01Z&kind=runner_up',
  'events/events-of-a-transaction.json':
    '/events?tx=hY7LDEniY1gNungY84ouroeGssYaxm6ze6VNisEiwc1sZZi1bNs6nhFjas95ZDYVCnaLDPcNFWvrfxYbaNYdaNu',
  'events/events.csv': '/events?format=csv',
  'events/event.json': '/events/13',
  'events/event-details.json': '/events/24/details',
  'events/event-without-details.json': '/events/4/details',
  'events/event-corrections.json': '/events/13/corrections',
  'events/event-types.json': '/event-types',
  'events/event-type.json': '/event-types/correction',
  'events/stream.sse': '/stream?after=0',
  'events/stream.ndjson': '/stream?after=0#ndjson',
  'events/stream-filtered.sse': '/stream?after=20&type=price,correction',
  'log/checkpoint.txt': '/log/checkpoint',
  'log/checkpoint.witnessed.txt': '/log/checkpoint.witnessed',
  'log/keys.json': '/log/keys',
  'log/witnesses.json': '/log/witnesses',
  'log/event-13.tlog-proof': '/log/proof/13',
  'log/event-13.witnessed.tlog-proof': '/log/proof/13?checkpoint=witnessed',
  'log/leaves.tile': '/log/tile/0/000.p/41',
  'log/leaves-of-a-smaller-tree.tile': '/log/tile/0/000.p/3',
  'log/entries.tile': '/log/tile/entries/000.p/41',
}

/** The same for resources of a closed month. */
const OF_A_CLOSED_MONTH: Readonly<Record<string, string>> = {
  'flows-of-the-month.json': `/flows?${MARCH}&bucket=day`,
  'flows-of-the-weeks.json': `/flows?${MARCH}&bucket=week`,
  'flows-of-the-weeks-by-kind.json': `/flows?${MARCH}&bucket=week&by=kind`,
  'lists/flows-of-the-weeks-by-kind.csv': `/flows?${MARCH}&bucket=week&by=kind&format=csv`,
  'funds-of-the-month.json': `/funds?${MARCH}&bucket=day`,
  'patterns-of-the-month.json': `/patterns?${MARCH}`,
  'archive/2026-03.jsonl.gz': '/archive/2026-03.jsonl.gz',
  'archive/2026-03.details.jsonl.gz': '/archive/2026-03.details.jsonl.gz',
  'archive/2026-03.json': '/archive/2026-03.json',
  'archive/2026-04.jsonl.gz': '/archive/2026-04.jsonl.gz',
  'archive/2026-04.details.jsonl.gz': '/archive/2026-04.details.jsonl.gz',
  'archive/SHA256SUMS': '/archive/SHA256SUMS',
}

const MOMENTS = [
  {
    name: 'in the middle of the month',
    folder: 'middle',
    drafts: DRAFTS.split('\n').slice(0, DRAFTS_TO_MIDDLE).join('\n'),
    now: Date.UTC(2026, 2, 10, 12),
    resources: RESOURCES,
  },
  {
    name: 'when the month is over',
    folder: 'end',
    drafts: DRAFTS,
    now: Date.UTC(2026, 3, 2, 10, 0, 30, 500),
    resources: { ...RESOURCES, ...OF_A_CLOSED_MONTH },
  },
]

function compare(file: string, made: Buffer): void {
  const path = join(GOLDEN, file)
  if (WRITES) {
    mkdirSync(dirname(path), { recursive: true })
    return writeFileSync(path, made)
  }
  assert.ok(existsSync(path), `${file} is not there`)
  const kept = readFileSync(path)
  if (file.endsWith('.gz')) assert.equal(gunzipSync(made).toString(), gunzipSync(kept).toString())
  else assert.equal(made.toString(), kept.toString())
  assert.ok(made.equals(kept), `the bytes of ${file}`)
}

suite('the golden month', () => {
  test('has an answer of every endpoint but the descriptions of the interface', () => {
    const shown = Object.values({ ...RESOURCES, ...OF_A_CLOSED_MONTH })
    const lacking = ENDPOINTS.filter(({ path }) => {
      const parts = path.replaceAll(/\{\w+\.\.\.\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+')
      const form = new RegExp(`^${parts}(?:[?#]|$)`)
      return !shown.some((asked) => form.test(`/api/v1${asked}`))
    })
    assert.deepEqual(
      lacking.map(({ id }) => id),
      ['openapi', 'asyncapi'],
    )
  })

  for (const { name, folder, drafts, now, resources } of MOMENTS) {
    test(`has the same bytes as ever ${name}`, async (t) => {
      if (WRITES) rmSync(join(GOLDEN, folder), { recursive: true, force: true })
      await using node = await openGoldenNode(drafts, msOf(now))
      for (const [file, path] of Object.entries(resources)) {
        await t.test(`/api/v1${path}`, async () => {
          const bytes = await node.bytesOf(`/api/v1${path}`)
          // Only the version changes with a release.
          const same = path === '/status' ? bytes.toString().replace(`"${VERSION}"`, '"0.0.0"') : bytes
          compare(`${folder}/${file}`, Buffer.from(same))
        })
      }
      const kept = globSync(join(GOLDEN, folder, '**/*.*')).length
      const sums = Object.keys(resources).filter((file) => file.endsWith('SUMS')).length
      assert.equal(kept, Object.keys(resources).length - sums, `no other file is in golden/${folder}`)
    })
  }
})
