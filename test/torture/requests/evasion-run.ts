import assert from 'node:assert/strict'
import type { Random } from '../../../sim/random.ts'
import { STREAMS_PER_CALLER } from '../../../src/serve/allowance/caller-slots.ts'
import { until } from '../../stage/stream-client.ts'
import { EVADING_CALLERS, type EvadingCaller } from './evasion-callers.ts'
import type { EvasionFronts } from './evasion-fronts.ts'
import { type EvasionAsk, type EvasionCounts, openEvasionGround } from './evasion-ground.ts'
import { openLasting } from './evasion-link.ts'
import { assertGranted, isUsedUp } from './evasion-model.ts'
import { API_SHARE, drawKind, drawStream, type EvasionKind, PROBE } from './evasion-requests.ts'
import type { AllowanceScope } from '../../../src/serve/allowance/allowance.ts'

const WINDOW_MS = 60_000

/** A run of callers that try everything for more than their allowance, against a model of what is granted. */
type EvasionRun = Disposable & Readonly<{ counts: EvasionCounts; step(): Promise<void> }>

export function openEvasionRun(fronts: EvasionFronts, random: Random): EvasionRun {
  // Not at 0, because a clock that has just started is no special case.
  const ground = openEvasionGround(fronts, random, random.between(1, 10 * WINDOW_MS))
  const { model, counts, streams, endsOf, requestOf, newLink, settled, burst } = ground

  /** Draws requests of a caller; of a polite one no more than it has left. */
  function drawn(caller: EvadingCaller): readonly EvasionAsk[] {
    // Mostly about as many as it has left, of which others than those of the API take some.
    const edge = Math.max(
      1,
      Math.round((model.left(caller.name, 'api') + random.between(-3, 12)) / API_SHARE),
    )
    const length = !caller.isPolite && random.chance(0.7) ? edge : random.between(1, 8)
    const asked = Array.from({ length }, () => ({ caller, kind: drawKind(random) }))
    if (!caller.isPolite) return asked
    const used: Partial<Record<AllowanceScope, number>> = {}
    return asked.filter(({ kind: { scope } }) => {
      if (scope === 'none') return true
      used[scope] = (used[scope] ?? 0) + 1
      return used[scope] <= model.left(caller.name, scope)
    })
  }

  function moveClock(): void {
    const leaves = model.oldestLeavesMs(random.pick(EVADING_CALLERS).name)
    const minute = WINDOW_MS - (model.now() % WINDOW_MS)
    const ms = random.weighted([
      [0, 8],
      [random.between(1, 5_000), 8],
      [random.between(1, WINDOW_MS), 2],
      // The edges of the window of one caller, and of a minute of the clock.
      [Math.max(0, leaves - 1), 3],
      [leaves, 3],
      [leaves + 1, 1],
      [minute - 1, 1],
      [minute, 1],
      [WINDOW_MS - 1, 1],
      [WINDOW_MS, 1],
      // The moments of the table are kept modulo 65,536.
      [65_535, 1],
      [65_536, 1],
      [65_537, 1],
    ])
    model.move(ms)
    fronts.setClock(model.now())
  }

  /** Opens more streams than a caller may have, over both publish APIs at the same moment, and closes some. */
  async function openStreams(caller: EvadingCaller): Promise<void> {
    const mine = streams.get(caller.name) ?? []
    const kinds = Array.from({ length: random.between(4, 14) }, () => drawStream(random))
    const answers = await Promise.all(
      kinds.map((kind) => openLasting(endsOf(caller.peer(random)), requestOf({ caller, kind }).bytes, true)),
    )
    counts.requests += kinds.length
    for (const scope of ['api', 'pages'] as const) {
      const some = answers.filter((_, index) => kinds[index]?.scope === scope)
      // The stream of the pages category is `/live`.
      const readers = scope === 'api' ? '*' : undefined
      counts.refused += assertGranted({ model, caller: caller.name, scope, answers: some, readers }).refused
    }
    const opened = answers.filter(({ status }) => status === 200)
    const full = answers.filter((one) => one.status === 429 && !isUsedUp(one))
    const [free, asked] = [STREAMS_PER_CALLER - mine.length, opened.length + full.length]
    assert.equal(
      opened.length,
      Math.min(free, asked),
      `${caller.name} opens ${asked} streams and has ${mine.length}`,
    )
    counts.streams += opened.length
    counts.streamsRefused += full.length
    const now = [...mine, ...opened]
    for (const one of answers) if (one.status !== 200) one[Symbol.dispose]()
    for (const one of now.splice(0, random.between(0, now.length))) one[Symbol.dispose]()
    streams.set(caller.name, now)
    // A reader that has left gives its place back, and no other one.
    const all = [...streams.values()].flat().length
    await until(() => fronts.streams() === all)
  }

  /** Sends requests and leaves before the answers. Each counts once or not at all, as the next answer says. */
  async function abandonSome(caller: EvadingCaller): Promise<void> {
    const links = Array.from({ length: random.between(1, 6) }, () => newLink(endsOf(caller.peer(random))))
    let most = 0
    let least = 0
    await Promise.all(
      links.map((link) => {
        const some = Array.from({ length: random.between(1, 5) }, () => requestOf({ caller, kind: PROBE }))
        // Less than one answer has, so that it comes to its end.
        const afterBytes = random.chance(0.5) ? 0 : random.between(1, 200)
        most += some.length
        least += afterBytes > 0 ? 1 : 0
        return link.abandon(some, afterBytes)
      }),
    )
    await settled()
    counts.requests += most
    counts.abandoned += most
    const left = model.left(caller.name, 'api')
    const [probe] = await (async () => {
      using link = newLink(endsOf(caller.peer(random)))
      return await link.ask([requestOf({ caller, kind: PROBE })])
    })()
    if (probe === undefined) assert.fail('a probe has an answer')
    const told = Number(/;r=(\d+);/.exec(probe.headers.get('ratelimit') ?? '')?.[1])
    const used = left - told - (isUsedUp(probe) ? 0 : 1)
    const of = `${caller.name}: ${most} abandoned requests, ${least} with an answer, took ${used} of ${left}`
    assert.ok(used <= most && used >= Math.min(least, left), of)
    model.ask(caller.name, 'api', used)
    assertGranted({ model, caller: caller.name, scope: 'api', answers: [probe] })
  }

  /** Asks for more tiles or pages than a caller may have. */
  async function flood(caller: EvadingCaller): Promise<void> {
    const scope = random.pick(['tiles', 'pages'] as const)
    const kind: EvasionKind =
      scope === 'tiles'
        ? { ...PROBE, scope, target: '/api/v1/log/tile/0/000.p/5', statuses: [200] }
        : { ...PROBE, scope, method: 'HEAD', target: '/contests/1', statuses: [308] }
    const asked = Array.from({ length: model.left(caller.name, scope) + 20 }, () => ({ caller, kind }))
    await burst(caller.isPolite ? asked.slice(20) : asked)
    counts.floods += 1
  }

  let steps = 0
  return {
    counts,
    async step() {
      moveClock()
      const callers = Array.from({ length: random.between(1, 3) }, () => random.pick(EVADING_CALLERS))
      // A caller inside the rules is always there, and nothing that the others do is charged to it.
      const all = new Set([...callers, ...EVADING_CALLERS.filter(({ isPolite }) => isPolite)])
      await burst([...all].flatMap(drawn))
      const rude = EVADING_CALLERS.filter(({ isPolite }) => !isPolite)
      const one = rude[random.below(rude.length)] ?? EVADING_CALLERS[0]
      // Each kind of attempt comes in its turn, so that a short run has them all.
      steps += 1
      if (steps % 40 === 10) await flood(one)
      else if (steps % 3 === 1) await openStreams(one)
      else if (steps % 3 === 2) await abandonSome(one)
    },
    [Symbol.dispose]: () => ground[Symbol.dispose](),
  }
}
