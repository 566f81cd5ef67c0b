import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { STORE_FILE } from '../../../src/log/store/store.ts'
import { skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../campaign.ts'
import { type BrokenCut, type CutJob, runCuts } from './cut-run.ts'
import { traceWorkload, WORKLOADS } from './power-workloads.ts'
import { toldOf } from './recorded-log.ts'
import type { Recording } from './recorder.ts'
import type { RecordedCall } from './power-disk.ts'

const CAMPAIGN = openCampaign('power-cuts')
const { size, seed } = CAMPAIGN
/** Size up to which only the first workload is recorded. */
const SMALL = 1_000
/** States of a recording at most before it is made again with other drafts. */
const STATES_A_RECORDING = 2_000
/** Rounds of recordings at most. */
const ROUNDS_MAX = 40
/** States before the store exists: there are not many. */
const STARTS_MIN = 10
/** Workloads whose states take ten times as long: their stores have thousands of events. */
const isSlow = (name: string): boolean => name.startsWith('an upgrade')
const SLOW = 10
/** Share of the states that the proofs of the campaign check too: recordings in which some syncs do not count. */
const TEETH_SHARE = 0.03
const TEETH_MIN = 40

const [FIRST = '', ALONE = ''] = Object.keys(WORKLOADS)
const isSmall = size <= SMALL
const total = { recordings: 0, states: 0, drawn: 0, served: 0, repeated: 0, calls: 0 }

/** The first recording, which is used again. */
const kept: Recording[] = []

/** Jobs that together check about so many states, over all workloads, each with drafts of its own. */
function jobsOf(states: number, round: number): readonly (() => Promise<CutJob>)[] {
  const names = isSmall ? [FIRST] : Object.keys(WORKLOADS)
  const shares = names.map((name) => (isSlow(name) ? 1 / SLOW : 1))
  const whole = shares.reduce((sum, share) => sum + share, 0)
  return names.map((workload, index) => async () => {
    const own = Math.ceil((states * (shares[index] ?? 1)) / whole)
    const drafts = `${seed} ${round}`
    const recording = await traceWorkload(workload, randomOf(`${drafts} ${workload}`))
    total.recordings += 1
    total.calls += recording.calls.length
    if (workload === FIRST && round === 0) kept.push(recording)
    return { workload, recording, states: Math.min(own, STATES_A_RECORDING), seed: drafts, continues: true }
  })
}

/** The calls of a first start before it makes the store: few among those of a whole recording. */
function firstStart({ calls, ...recording }: Recording): Recording {
  const made = calls.findIndex(({ path }) => path.includes(STORE_FILE))
  assert.ok(made > 0)
  return { ...recording, calls: calls.slice(0, made) }
}

function told({ workload, seed: drafts, drawn, after, reason }: BrokenCut): string {
  return `${workload}, drafts of ${drafts}, state ${drawn}, after ${after}: ${reason}`
}

/** The first recording. */
function firstRecording(): Recording {
  const [recording] = kept
  assert.ok(recording !== undefined)
  return recording
}

/** Checks the first recording as if some of its calls had not been made. Returns what was broken. */
async function without(
  name: string,
  isLeftOut: (call: RecordedCall) => boolean,
): Promise<readonly BrokenCut[]> {
  const all = firstRecording().calls
  const calls = all.filter((call) => !isLeftOut(call))
  assert.ok(calls.length < all.length, `${name}: some calls are left out`)
  return await brokenWith(name, calls)
}

/** The calls as if each answer of the publish API had been sent before the writes of its commit. */
function answeredEarly(calls: readonly RecordedCall[]): readonly RecordedCall[] {
  const early: RecordedCall[] = []
  let [begun, next] = [0, 0]
  for (const call of calls) {
    if (toldOf(call)?.is === 'answered') {
      early.splice(begun, 0, call)
      next += 1
    } else early.push(call)
    if (isSync(call) && call.path.endsWith('-wal')) [begun, next] = [next, early.length]
  }
  return early
}

/** Checks the first recording with other calls. Returns what was broken. */
async function brokenWith(name: string, calls: readonly RecordedCall[]): Promise<readonly BrokenCut[]> {
  const job = {
    workload: FIRST,
    recording: { ...firstRecording(), calls },
    states: TEETH,
    seed: name,
    continues: false,
  }
  return (await runCuts(job)).broken
}

const TEETH = Math.max(TEETH_MIN, Math.ceil(size * TEETH_SHARE))
const isLoss = ({ reason }: BrokenCut): boolean => /were acknowledged|the log ends at seq/.test(reason)
const isSync = ({ call }: RecordedCall): boolean => call === 'fsync' || call === 'fdatasync'
const isFolder = ({ path }: RecordedCall): boolean => path === '.' || path === 'data'

suite(`power cuts, ${size} states`, { skip: skipWithout('cc'), timeout: 600_000 + size * 100 }, () => {
  const losses = { normal: 0, early: 0, names: 0, contents: 0 }
  let starts = 0

  test('lose nothing that was acknowledged, and the node starts again', async (t) => {
    const broken: BrokenCut[] = []
    for (let round = 0; total.states < size && round < ROUNDS_MAX; round += 1)
      for (const job of jobsOf(size - total.states, round)) {
        const counts = await runCuts(await job())
        broken.push(...counts.broken)
        for (const key of ['states', 'drawn', 'served', 'repeated'] as const) total[key] += counts[key]
        t.diagnostic(`${total.states} states, ${broken.length} broken`)
      }
    assert.deepEqual(
      broken.slice(0, 10).map(told),
      [],
      `${broken.length} of ${total.states} states are broken`,
    )
  })

  test('before the store of a first start exists leave a directory in which it succeeds', async () => {
    const job = {
      workload: FIRST,
      recording: firstStart(firstRecording()),
      states: TEETH,
      seed: 'first',
      continues: false,
    }
    const { states, broken } = await runCuts(job)
    starts = states
    assert.deepEqual(broken.map(told), [])
  })

  test('lose events with synchronous=NORMAL, so the campaign would find such a loss', async () => {
    const recording = await traceWorkload(ALONE, randomOf(seed), 'NORMAL')
    const job = { workload: ALONE, recording, states: TEETH, seed, continues: false }
    losses.normal = (await runCuts(job)).broken.filter(isLoss).length
  })

  test('lose events that are acknowledged before their commit is on the disk', async () => {
    losses.early = (await brokenWith('early', answeredEarly(firstRecording().calls))).filter(isLoss).length
  })

  test('lose the store or its key when no folder is synced', async () => {
    const broken = await without('folders', (call) => isSync(call) && isFolder(call))
    losses.names = broken.length
  })

  test('leave empty and torn files when only folders are synced', async () => {
    const broken = await without('contents', (call) => isSync(call) && !isFolder(call))
    losses.contents = broken.length
  })

  test('came in enough states', (t) => {
    const floors = {
      recordings: isSmall ? 1 : Object.keys(WORKLOADS).length,
      states: size,
      served: Math.floor(size / 200),
      repeated: Math.floor(size / 2_000),
      starts: STARTS_MIN,
      normal: Math.floor(TEETH / 5),
      early: Math.floor(TEETH / 20),
      names: Math.floor(TEETH / 5),
      contents: Math.floor(TEETH / 5),
    }
    CAMPAIGN.finish(t, { ...total, starts, ...losses }, floors)
  })
})
