import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { suite, test } from 'node:test'
import { openDemoChain } from '../../sim/chain/demo-chain.ts'
import { isFailing, numberOf, type PublishDraft, refOf, REFS_FROM, REFS_TO } from '../../sim/import-draft.ts'
import { liveDrafts, publishOnTime, type SendResult } from '../../sim/live.ts'
import { openRefs } from '../../src/log/store/refs.ts'
import { DAY_MS, MINUTE_MS, type Ms, msOf, SECOND_MS } from '../../src/protocol/moment.ts'
import { openHeldStage } from '../held/held-stage.ts'
import { linesOf } from '../stage/publish-stage.ts'

/** First moment of the stage's clock. */
const START = Date.UTC(2026, 9, 1)
/** Time between two questions of the gate, and the longest that a draft of the simulation is held. */
const POLL_MS = 2 * SECOND_MS
const HELD_MS_MAX = 30 * SECOND_MS
/** The course: two weeks and a half, within which every prize is paid or expires. */
const COURSE_MS = 17 * DAY_MS
/** Runs of the platform, and the time between two of them. */
const RUNS = 8
const STOP_MS = 3 * MINUTE_MS

type Platform = Awaited<ReturnType<typeof openPlatform>>

/** The simulated platform of the demonstration, its pretend chain, and a gate, on a stepped clock. */
function openPlatform() {
  const stage = openHeldStage()
  const seen = { skipped: [] as string[], failed: 0, heldMsMax: 0, heldAtStop: 0 }
  let now = START
  let chain = openDemoChain('test', () => now)

  /** One question of the gate: settles what the chain has settled. */
  async function poll(): Promise<void> {
    const asked = stage.queue().held.asked()
    for (const { draft, acceptedAt } of asked) {
      seen.heldMsMax = Math.max(seen.heldMsMax, now - acceptedAt)
      const tx = (draft.tx ?? '').replace(/^transaction-/, '')
      const { is } = chain.chain.truth(tx)
      if (is !== 'final' && is !== 'failed') continue
      if (is === 'failed') seen.failed++
      await stage.settle([tx], is)
    }
  }
  async function until(moment: Ms): Promise<void> {
    while (now < moment) {
      const waits = stage.queue().held.asked().length > 0
      now = waits ? Math.min(moment, now + POLL_MS) : moment
      stage.clock(now - START)
      await poll()
    }
  }
  async function send(draft: PublishDraft): Promise<SendResult> {
    if (draft.tx !== undefined) chain.send(draft.tx)
    const outcome = await stage.outcome([draft])
    if (outcome.ok) return 'accepted'
    return { refused: `${outcome.code}: ${outcome.reason}`, mayPass: (outcome.held ?? 0) > 0 }
  }
  const skip = (draft: PublishDraft, reason: string): void => {
    seen.skipped.push(`${draft.ref} ${draft.type}/${draft.kind} ${reason}`)
  }
  return {
    stage,
    seen,
    until,
    now: () => msOf(now),
    /** Runs the simulator, as one start of the demonstration does. Stops after `end`, while a draft is held. */
    async run(end: number) {
      using refs = openRefs(dirname(stage.path))
      const stop = new AbortController()
      const api = {
        send,
        skip,
        now: () => msOf(now),
        until: async (moment: Ms) => {
          if (now >= end && stage.queue().held.asked().length > 0) stop.abort()
          else await until(moment)
        },
        seqOf: (number: number) =>
          refs.isHeld(refOf(number)) ? ('held' as const) : refs.seqOf(refOf(number)),
      }
      const dues = liveDrafts({
        seed: 'held',
        from: msOf(START),
        to: msOf(START),
        scale: 0.012,
        failedOneIn: 5,
        published: numberOf(refs.lastBetween(REFS_FROM, REFS_TO)),
        now: api.now,
      })
      await publishOnTime(dues, api, stop.signal)
    },
    /** Restarts service and chain, which is all that a restart of the demonstration keeps. */
    restart(offMs: number) {
      seen.heldAtStop += stage.held().length
      stage.reopen()
      now += offMs
      stage.clock(now - START)
      chain = openDemoChain('test', () => now)
    },
  }
}

type Line = Readonly<{ type: string; kind: string; contestId: number | null; tx: string | null; at: string }>

function eventsOf({ stage }: Platform): readonly Line[] {
  return linesOf(stage.path).map((line): Line => JSON.parse(line))
}

suite('the simulated platform on a chain that takes some seconds', () => {
  test('ends every contest, holds nothing for ever, and publishes no failed transaction, across restarts', async () => {
    const platform = openPlatform()
    using _ = platform.stage
    for (let part = 1; part <= RUNS; part++) {
      await platform.run(START + (COURSE_MS * part) / RUNS)
      if (part < RUNS) platform.restart(STOP_MS)
    }
    await platform.until(msOf(platform.now() + 10 * MINUTE_MS))
    assert.deepEqual(platform.stage.held(), [], 'nothing is held for ever')
    const { seen } = platform
    assert.deepEqual(seen.skipped, [], 'no draft is refused')
    assert.ok(seen.heldMsMax <= HELD_MS_MAX + STOP_MS, `one draft was held for ${seen.heldMsMax} ms`)
    assert.ok(seen.failed > 5, `${seen.failed} transactions failed`)
    assert.ok(seen.heldAtStop >= RUNS - 1, 'drafts were held at each stop')

    const events = eventsOf(platform)
    assert.ok(events.every(({ tx }) => tx === null || !isFailing(tx)))
    const ids = (kind: string) =>
      new Set(
        events
          .filter((event) => event.type === 'contest' && event.kind === kind)
          .map((event) => event.contestId),
      )
    const paid = ids('paid')
    const last = Math.max(...[...paid].map(Number))
    assert.ok(paid.size > 5)
    // Ids are given in the order of announcement. Only long contests and those with an expiry end later than others.
    const unpaid = [...ids('closed'), ...ids('cancelled')].filter(
      (id) => Number(id) < last - 12 && !paid.has(id),
    )
    assert.deepEqual(unpaid, [])
  })
})
