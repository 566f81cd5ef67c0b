import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openCampaign } from '../campaign.ts'
import { isLeaking, lastToFirst, slopeOf } from './soak-judgement.ts'
import { runSoak, SAMPLE_MS, type SoakHistory } from './soak-run.ts'
import { openFolder } from '../../story/damaged-log.ts'

const CAMPAIGN = openCampaign('soak')
/** Simulated hours. */
const HOURS = CAMPAIGN.size
/** Duration of a simulated hour. */
const HOUR_SECONDS = Number(process.env['DAYBOOK_SOAK_HOUR_SECONDS'] ?? 150)
/** Load as a share of 24 events, 20 new streams and 200 GETs a second. */
const FACTOR = Number(process.env['DAYBOOK_SOAK_FACTOR'] ?? 0.5)
const MB = 1_000_000

/** Limits of the judgement. */
const MEMORY_BYTES_PER_SESSION = MB / 10_000
/** Largest ratio of the last quarter's median memory to that of the first. */
const RSS_GROWTH_MAX = 1.25
const FILES_LEFT_MAX = 5
const WAL_BYTES_MAX = 64 * MB
/** Largest ratio of the last quarter's median to that of the first. */
const P99_GROWTH_MAX = 2
const LOOP_GROWTH_MAX = 2
/** Largest ratio of the store's bytes for each event at the end to those in the middle. */
const DISK_GROWTH_MAX = 1.25
/** Samples without which flatness is not shown: half of those that an idle machine takes. */
const SAMPLES_MIN = Math.ceil((0.5 * HOURS * HOUR_SECONDS * 1_000) / SAMPLE_MS)
/**
 * Mean slowness of the machine above which nothing is judged. On a busier machine a start takes a simulated hour, so the
 * writer is hardly ever up between two deeds of the operator.
 */
const SLOWNESS_MAX = 5

/** Judges one node. Returns its figures, and what is wrong. */
function judged(
  name: 'writer' | 'mirror',
  record: SoakHistory,
): Readonly<{ figures: Record<string, number>; wrong: string[] }> {
  const known = record.samples.flatMap((sample) => {
    const node = sample[name]
    return node === null ? [] : [{ ...sample, ...node }]
  })
  // V8 gives the room of its garbage back in steps of minutes, by some 60 MB. A leak is in what it uses.
  const points = known.map(({ lives, sessions, anonymous, idleHeap }) => ({
    life: lives[name],
    x: sessions,
    y: anonymous - idleHeap,
  }))
  // The memory of a process that is restarted twice an hour is still warming up, so that its slope says nothing. Whether it
  // grows with the log is told by its later lives. Another campaign looks for leaks in a writer: stream-cycles.
  const isWhole = new Set(points.map(({ life }) => life)).size === 1
  const slope = isWhole ? slopeOf(points) : null
  const rssGrowth = lastToFirst(known.map(({ rss }) => rss))
  // Other programs make a machine slower; that is not the service's doing.
  const loopGrowth = lastToFirst(known.map(({ loopMs, slowness }) => loopMs / slowness))
  const getGrowth = lastToFirst(
    record.samples.flatMap(({ getP99, slowness }) => {
      const p99 = getP99[name]
      return p99 === null ? [] : [p99 / slowness]
    }),
  )
  const perEvent = known.map(({ store, events }) => store / Math.max(1, events))
  const middle = perEvent[Math.floor(perEvent.length / 2)] ?? 1
  const diskGrowth = (perEvent.at(-1) ?? 0) / middle
  const wal = Math.max(...known.map((sample) => sample.wal))
  const left = record.end[name].files - record.begin[name].files
  const wrong = [
    [
      isWhole && isLeaking(points, MEMORY_BYTES_PER_SESSION),
      `its memory grows by ${slope?.slope.toFixed(0)} bytes a session`,
    ],
    [rssGrowth > RSS_GROWTH_MAX, `its memory has grown by a factor of ${rssGrowth.toFixed(2)}`],
    [left > FILES_LEFT_MAX, `${left} more handles are open than at the start`],
    [wal > WAL_BYTES_MAX, `its write-ahead log has reached ${wal} bytes`],
    [getGrowth > P99_GROWTH_MAX, `the p99 of GETs has grown by a factor of ${getGrowth.toFixed(2)}`],
    [
      loopGrowth > LOOP_GROWTH_MAX,
      `the p99 of its event loop has grown by a factor of ${loopGrowth.toFixed(2)}`,
    ],
    [
      diskGrowth > DISK_GROWTH_MAX,
      `its store has grown by a factor of ${diskGrowth.toFixed(2)} for each event`,
    ],
  ] as const
  const kilobytes = (value: number): number => Math.round((value * 10_000) / 1_000)
  return {
    figures: {
      ...(slope !== null && {
        [`${name}KbPer10000Sessions`]: kilobytes(slope.slope),
        [`${name}KbPer10000SessionsLow`]: kilobytes(slope.low),
        [`${name}KbPer10000SessionsHigh`]: kilobytes(slope.high),
      }),
      [`${name}RssGrowthPercent`]: Math.round(rssGrowth * 100),
      [`${name}RssMbMax`]: Math.round(Math.max(...known.map(({ rss }) => rss)) / MB),
      [`${name}HandlesLeft`]: left,
      [`${name}WalMbMax`]: Math.round(wal / MB),
      [`${name}BytesPerEvent`]: Math.round(perEvent.at(-1) ?? 0),
      [`${name}GetP99GrowthPercent`]: Math.round(getGrowth * 100),
      [`${name}LoopP99GrowthPercent`]: Math.round(loopGrowth * 100),
    },
    wrong: wrong.flatMap(([isWrong, what]) => (isWrong ? [`${name}: ${what}`] : [])),
  }
}

// `npm run test:all` soaks nothing: the judgement has a test of its own there.
if (HOURS > 0)
  suite(`${HOURS} hours of a busy platform in ${HOUR_SECONDS} s each`, () => {
    test(
      'leave memory, handles, disk and delays as they were',
      { timeout: 600_000 + HOURS * HOUR_SECONDS * 2_000 },
      async (t) => {
        using folder = openFolder()
        const settings = {
          folder: folder.path,
          seed: CAMPAIGN.seed,
          hours: HOURS,
          hourSeconds: HOUR_SECONDS,
          factor: FACTOR,
        }
        const record = await runSoak(settings, (line) => t.diagnostic(line))
        assert.deepEqual(record.wrong, [])
        const nodes = [judged('writer', record), judged('mirror', record)]
        t.diagnostic(JSON.stringify(Object.assign({}, ...nodes.map(({ figures }) => figures))))
        const slowness = record.samples.reduce((sum, one) => sum + one.slowness, 0) / record.samples.length
        assert.ok(
          slowness <= SLOWNESS_MAX,
          `computing took ${slowness.toFixed(1)} times as long as alone: soak on a machine that does nothing else`,
        )
        assert.deepEqual(
          nodes.flatMap(({ wrong }) => wrong),
          [],
        )
        const minutes = (HOURS * HOUR_SECONDS) / 60
        const figures = {
          hours: HOURS,
          loadPercent: Math.round(FACTOR * 100),
          slownessPercent: Math.round(slowness * 100),
          samples: record.samples.length,
          ...record.counts,
        }
        CAMPAIGN.finish(t, Object.assign(figures, ...nodes.map(({ figures: own }) => own)), {
          samples: SAMPLES_MIN,
          events: minutes * 60 * FACTOR * 8,
          sessions: minutes * 60 * FACTOR * 10,
          gets: minutes * 60 * FACTOR * 60,
          kills: 1,
          restarts: 1,
          backups: HOURS,
          rebuilds: 1,
          monthEnds: 1,
        })
      },
    )
  })
