import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../sim/random.ts'
import type { ModelDraft } from '../story/log-model.ts'
import type { PrivateApi } from './private-api.ts'

/** Last answer of the publish API about a draft. */
type Known = Readonly<{ status: string; seq: number | undefined }>

/** Sends the platform's requests until their outcome is known, over kills and restarts of the service. */
export type PlatformDesk = Readonly<{
  /**
   * Sends drafts in one request and repeats it, with the same refs, until it is answered. Returns the seqs of the drafts
   * that are published, or null when the books refuse the request.
   */
  send(drafts: readonly ModelDraft[]): Promise<readonly (number | undefined)[] | null>
  /** All drafts that were accepted, by ref, in order of sending within a contest. */
  accepted: ReadonlyMap<string, ModelDraft>
  known: ReadonlyMap<string, Known>
  /** Requests whose outcome is not known yet. */
  unknown(): readonly (readonly ModelDraft[])[]
  counts: Readonly<{ requests: number; cut: number; repeated: number; conflicts: number; refusals: number }>
}>

const RETRY_MS = 15

/** `turn` waits until a request may be sent, and returns the publish API. */
export function openPlatformDesk(random: Random, turn: () => Promise<PrivateApi>): PlatformDesk {
  const accepted = new Map<string, ModelDraft>()
  const known = new Map<string, Known>()
  const unknown = new Set<readonly ModelDraft[]>()
  const counts = { requests: 0, cut: 0, repeated: 0, conflicts: 0, refusals: 0 }

  function note(drafts: readonly ModelDraft[], receipts: readonly (Known & { ref: string })[]): void {
    assert.deepEqual(
      receipts.map(({ ref }) => ref),
      drafts.map(({ ref }) => ref),
    )
    for (const [index, { ref, status, seq }] of receipts.entries()) {
      const before = known.get(ref)
      if (before !== undefined) assertFollows(ref, before, { status, seq })
      known.set(ref, { status, seq })
      const draft = drafts[index]
      if (draft !== undefined && !accepted.has(ref)) accepted.set(ref, draft)
    }
  }

  /** One attempt: the seqs, `unknown` without an answer, or the refusal. */
  async function attempt(drafts: readonly ModelDraft[]) {
    const api = await turn()
    const cut = random.chance(0.03) ? AbortSignal.timeout(random.between(1, 8)) : undefined
    counts.requests += 1
    unknown.add(drafts)
    const answer = await api.post('/publish', drafts, cut).catch(() => null)
    if (answer === null) {
      counts.cut += 1
      return 'unknown'
    }
    if (answer.status === 503) return 'unknown'
    unknown.delete(drafts)
    if (answer.status !== 200) return answer
    note(drafts, answer.body.drafts ?? [])
    return (answer.body.drafts ?? []).map(({ seq }) => seq)
  }

  /** Repeats an answered request, or sends another content under one of its refs. Neither changes anything. */
  async function disturb(drafts: readonly ModelDraft[]): Promise<void> {
    const [first] = drafts
    if (first !== undefined && random.chance(0.02)) {
      const other = [
        { ...first, ...(first.kots === undefined ? { contestId: 999_999 } : { kots: `${first.kots}.5` }) },
      ]
      const answer = await attempt(other)
      unknown.delete(other)
      if (answer === 'unknown') return
      const says = `another content under ${first.ref} is refused`
      assert.ok('status' in answer && answer.body.code === 'ref-conflict', says)
      counts.conflicts += 1
    } else if (random.chance(0.05) && (await attempt(drafts)) !== 'unknown') counts.repeated += 1
  }

  return {
    accepted,
    known,
    unknown: () => [...unknown],
    counts,
    async send(drafts) {
      for (;;) {
        const answer = await attempt(drafts)
        if (answer === 'unknown') {
          await sleep(RETRY_MS)
          continue
        }
        if (!('status' in answer)) {
          await disturb(drafts)
          return answer
        }
        const { code, detail } = answer.body
        const passes = code === 'wrong-state' || code === 'insufficient-balance'
        assert.ok(passes, `${answer.status} ${code}: ${detail} ${JSON.stringify(drafts)}`)
        counts.refusals += 1
        return null
      }
    },
  }
}

/** Asserts that a draft's status may follow an earlier one. */
function assertFollows(ref: string, before: Known, after: Known): void {
  const next: Readonly<Record<string, readonly string[]>> = {
    published: ['duplicate'],
    duplicate: ['duplicate'],
    held: ['held', 'duplicate', 'failed', 'dropped'],
    failed: ['failed'],
    dropped: ['dropped'],
  }
  const says = `${ref} was ${before.status} ${before.seq ?? ''} and is ${after.status} ${after.seq ?? ''}`
  assert.ok(next[before.status]?.includes(after.status), says)
  if (before.seq !== undefined) assert.equal(after.seq, before.seq, says)
}
