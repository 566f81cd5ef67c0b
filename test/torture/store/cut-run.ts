import { randomOf } from '../../../sim/random.ts'
import { checkServed, repeatCommand, serveAfter, startAgain, writeState } from './cut-check.ts'
import {
  type CutState,
  digestOfState,
  drawCut,
  durableState,
  openPowerDisk,
  type RecordedCall,
  wholeState,
} from './power-disk.ts'
import { afterTold, type Expected, NOTHING_TOLD, toldOf } from './recorded-log.ts'
import type { Recording } from './recorder.ts'
import { errorMessage } from '../../../src/protocol/error-reason.ts'
import { openFolder } from '../../story/damaged-log.ts'

/** Power cuts of one recording. */
export type CutJob = Readonly<{
  workload: string
  recording: Recording
  /** Distinct states to check; fewer when the recording has no more. */
  states: number
  seed: string
  /** Whether some services go on publishing after the cut, and some commands are repeated. */
  continues: boolean
}>

/** A state after which a promise is broken, and how to draw it again. */
export type BrokenCut = Readonly<{
  workload: string
  seed: string
  drawn: number
  after: string
  reason: string
}>

type CutCounts = Readonly<{
  states: number
  drawn: number
  served: number
  repeated: number
  broken: readonly BrokenCut[]
}>

/** Passes over the calls without a new state, after which a recording has no more. */
const IDLE_PASSES = 3
/** Share of the states that the moments after answers may take. */
const ANSWERED_SHARE = 0.25
/** Draws for each moment in one pass. */
const DRAWS = 4
/** One of so many states has a service that publishes again and is checked as a whole. */
const SERVED_EVERY = 100
/** A command that was running is repeated in one of so many states. */
const REPEATED_EVERY = 40

/** Draws states of a recording and checks each that is new. */
export async function runCuts({ workload, recording, states, seed, continues }: CutJob): Promise<CutCounts> {
  const random = randomOf(`${seed} ${workload}`)
  using folder = openFolder()
  const checkedWith = new Map<string, Expected>()
  const count = { drawn: 0, served: 0, repeated: 0 }
  const broken: BrokenCut[] = []
  /** Checks a state, unless the same one was checked with what is expected now. */
  const check = async (state: CutState, { expected, call }: Moment): Promise<void> => {
    count.drawn += 1
    const digest = digestOfState(state)
    if (checkedWith.get(digest) === expected) return
    checkedWith.set(digest, expected)
    writeState(folder.path, state)
    try {
      if (continues && expected.command !== null && checkedWith.size % REPEATED_EVERY === 0) {
        count.repeated += 1
        await repeatCommand(folder.path, expected.command)
      }
      const keys = await startAgain(folder.path, expected)
      checkServed(folder.path, expected, recording.logs)
      if (!continues || checkedWith.size % SERVED_EVERY !== SERVED_EVERY / 2) return
      count.served += 1
      await serveAfter(folder.path, expected.start, keys)
    } catch (error) {
      const reason = errorMessage(error).replaceAll(folder.path, '')
      broken.push({ workload, seed, drawn: count.drawn, after: `${call.call} ${call.path}`, reason })
    }
  }
  // The worst moment for an answer that came too early: right after it, when nothing else is on the disk.
  for (const moment of momentsOf(recording))
    if (toldOf(moment.call)?.is === 'answered' && checkedWith.size < states * ANSWERED_SHARE)
      await check(durableState(moment.disk), moment)
  for (let idle = 0; idle < IDLE_PASSES && checkedWith.size < states;) {
    const before = checkedWith.size
    for (const moment of momentsOf(recording)) {
      // Each pass begins elsewhere, so that a small number of states is spread over the whole recording.
      if (checkedWith.size >= states || !random.chance(shareOf(states, recording.calls))) continue
      // A process that is killed leaves all that it wrote.
      await check(wholeState(moment.disk), moment)
      for (let draw = 1; draw < DRAWS && checkedWith.size < states; draw += 1)
        await check(drawCut(moment.disk, random), moment)
    }
    idle = checkedWith.size > before ? 0 : idle + 1
  }
  return { states: checkedWith.size, ...count, broken }
}

/** Share of the moments that a pass draws at, so that the first pass does not use up all states. */
function shareOf(states: number, { length }: readonly RecordedCall[]): number {
  return Math.min(1, states / (length * DRAWS))
}

type Moment = Readonly<{ disk: ReturnType<typeof openPowerDisk>; expected: Expected; call: RecordedCall }>

/** Moments after calls that can change what a power cut leaves, and after answers. */
function* momentsOf({ before, calls }: Recording): Generator<Moment> {
  const disk = openPowerDisk(before)
  let expected = NOTHING_TOLD
  for (const call of calls) {
    const told = toldOf(call)
    if (told !== undefined) expected = afterTold(expected, told)
    else if (!disk.apply(call)) continue
    yield { disk, expected, call }
  }
}
