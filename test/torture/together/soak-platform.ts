import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../../sim/random.ts'
import type { SentDraft } from '../history/history.ts'
import { contestRequests } from '../history/contest-drafts.ts'

const PUBLISHERS = 4
const ATTEMPT_MS_MAX = 10_000
const RETRY_MS = 200

/** Publishers of a platform, which repeat each request until it is acknowledged. */
type SoakPlatform = Readonly<{
  counts: Readonly<{ requests: number; drafts: number; repeats: number }>
  /** Reasons of the repetitions so far, with their numbers: a problem's code, a status, or the code of a failed connection. */
  repeatedFor(): Readonly<Record<string, number>>
  /** Requests that should have been refused, or that were. */
  wrong: readonly string[]
  /** Resolves when all requests are acknowledged, and no other will be sent. */
  end(): Promise<void>
}>

type Settings = Readonly<{
  seed: string
  /** Base URL of the publish API, which stays the same across restarts. */
  publishUrl: string
  token: string
  eventsPerSecond: number
}>

export function openSoakPlatform({ seed, publishUrl, token, eventsPerSecond }: Settings): SoakPlatform {
  const counts = { requests: 0, drafts: 0, repeats: 0 }
  const reasons = new Map<string, number>()
  const wrong: string[] = []
  let isOver = false
  const repeat = async (reason: string): Promise<void> => {
    counts.repeats += 1
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    await sleep(RETRY_MS)
  }
  const post = async (drafts: readonly SentDraft[]): Promise<Readonly<{ status: number; code: string }>> => {
    try {
      const answer = await fetch(`${publishUrl}/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(drafts),
        signal: AbortSignal.timeout(ATTEMPT_MS_MAX),
      })
      const { code = '' } = (await answer.json()) as { code?: string }
      return { status: answer.status, code: code === '' ? String(answer.status) : code }
    } catch (error) {
      return { status: 0, code: codeOf(error) }
    }
  }
  const run = async (index: number): Promise<void> => {
    const random = randomOf(`${seed} publisher ${index}`)
    for (const { drafts, expected } of contestRequests(`p${index}`, index, random, null)) {
      if (isOver) return
      // A restart is no definite answer.
      let { status, code } = await post(drafts)
      while (status === 0 || status === 429 || status >= 500) {
        await repeat(code)
        ;({ status, code } = await post(drafts))
      }
      const isRight = expected === 'published' ? status === 200 : status >= 400
      if (!isRight) wrong.push(`${drafts[0]?.ref} was answered with ${status}`)
      counts.requests += 1
      if (status === 200) counts.drafts += drafts.length
      await sleep((drafts.length * PUBLISHERS * 1_000) / eventsPerSecond)
    }
  }
  const running = Promise.all(Array.from({ length: PUBLISHERS }, (_, index) => run(index)))
  running.catch(() => undefined)
  return {
    counts,
    repeatedFor: () => Object.fromEntries(reasons),
    wrong,
    async end() {
      isOver = true
      await running
    },
  }
}

/** Name or code of what ended a request without an answer. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : error.name
}
