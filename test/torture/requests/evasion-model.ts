import assert from 'node:assert/strict'
import type { RawAnswer } from './raw-answers.ts'
import type { AllowanceScope } from '../../../src/serve/allowance/allowance.ts'

/** Requests of a caller in any window, as the specification grants them. */
const GRANTED: Readonly<Record<AllowanceScope, number>> = { api: 60, tiles: 600, pages: 600 }
const GRANTED_WINDOW_MS = 60_000
const POLICY_NAMES: Readonly<Record<AllowanceScope, string>> = {
  api: 'default',
  tiles: 'tiles',
  pages: 'pages',
}

/** Answers to the requests of a burst: so many, and refusals of all others. */
type Predicted = Readonly<{ answered: number; refused: number }>

/** The allowances of all callers, as a list of the moment of each answered request. */
export type GrantedModel = Readonly<{
  left(caller: string, scope: AllowanceScope): number
  /** Counts a burst of requests at the present moment, and says how many are answered. */
  ask(caller: string, scope: AllowanceScope, requests: number): Predicted
  /** Seconds until a used-up allowance has a request again. */
  waitSeconds(caller: string, scope: AllowanceScope): number
  /** Milliseconds until the oldest request of a caller leaves the window; 0 if it has none. */
  oldestLeavesMs(caller: string): number
  now(): number
  move(ms: number): void
}>

/** Opens the model at a moment of the clock, in milliseconds. */
export function openGrantedModel(startMs: number): GrantedModel {
  let nowMs = startMs
  const answered = new Map<string, number[]>()
  const live = (caller: string, scope: AllowanceScope): number[] => {
    const key = `${scope} ${caller}`
    const kept = (answered.get(key) ?? []).filter((moment) => moment + GRANTED_WINDOW_MS > nowMs)
    answered.set(key, kept)
    return kept
  }
  const left = (caller: string, scope: AllowanceScope): number => GRANTED[scope] - live(caller, scope).length
  const leavesMs = (caller: string, scope: AllowanceScope): number => {
    const [oldest] = live(caller, scope)
    return oldest === undefined ? 0 : oldest + GRANTED_WINDOW_MS - nowMs
  }
  return {
    left,
    ask(caller, scope, requests) {
      const some = Math.min(requests, left(caller, scope))
      const moments = live(caller, scope)
      for (let index = 0; index < some; index += 1) moments.push(nowMs)
      return { answered: some, refused: requests - some }
    },
    waitSeconds: (caller, scope) => Math.ceil(leavesMs(caller, scope) / 1_000),
    oldestLeavesMs: (caller) => leavesMs(caller, 'api'),
    now: () => nowMs,
    move: (ms) => void (nowMs += ms),
  }
}

/** Whether an answer says that the allowance is used up. Only that refusal has both headers. */
export function isUsedUp({ status, headers }: Pick<RawAnswer, 'status' | 'headers'>): boolean {
  return status === 429 && headers.has('retry-after') && /;r=0;/.test(headers.get('ratelimit') ?? '')
}

/** Answers to one caller's requests of a burst that count against one allowance. */
type JudgedBurst = Readonly<{
  model: GrantedModel
  caller: string
  scope: AllowanceScope
  answers: readonly Pick<RawAnswer, 'status' | 'headers'>[]
  /** Sites that may read the answers: every site, except those of `/live`. */
  readers?: '*' | undefined
}>

/** Asserts that exactly the granted requests are answered, and that every answer tells the truth about the rest. */
export function assertGranted(burst: JudgedBurst): Predicted {
  const { model, caller, scope, answers, readers } = { readers: '*', ...burst }
  const left = model.left(caller, scope)
  const predicted = model.ask(caller, scope, answers.length)
  const of = `${caller}, ${scope}, ${answers.length} requests with ${left} left`
  const refused = answers.filter(isUsedUp)
  assert.equal(answers.length - refused.length, predicted.answered, `answered: ${of}`)
  const wait = String(model.waitSeconds(caller, scope))
  for (const { headers } of refused) {
    assert.equal(headers.get('retry-after'), wait, `Retry-After: ${of}`)
    assert.equal(headers.get('access-control-allow-origin'), readers, of)
    assert.equal(headers.get('cache-control'), 'no-store', of)
  }
  const told = new Set<number>()
  for (const { headers } of answers.filter((answer) => !isUsedUp(answer))) {
    const line = headers.get('ratelimit')
    // What is immutable may be kept, so it tells nothing.
    if (line === undefined) continue
    const [, name, rest] = /^"(\w+)";r=(\d+);t=\d+$/.exec(line) ?? []
    assert.equal(name, POLICY_NAMES[scope], of)
    assert.ok(!told.has(Number(rest)), `RateLimit says ${rest} twice: ${of}`)
    told.add(Number(rest))
    assert.ok(
      Number(rest) < left && Number(rest) >= left - predicted.answered,
      `RateLimit says ${rest}: ${of}`,
    )
  }
  return predicted
}
