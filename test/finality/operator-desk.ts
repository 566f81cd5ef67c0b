import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../sim/random.ts'
import type { PaymentChain } from './payment-fates.ts'
import type { HeldRow, PrivateApi } from './private-api.ts'

/** The operator: gives lost payments up, and vouches for late ones. */
type OperatorDesk = Readonly<{
  /** Decides about held drafts. Everything lost is given up when `all`, some of it otherwise. */
  decide(api: PrivateApi, all: boolean): Promise<void>
  /** Vouches for one payment. */
  vouch(api: PrivateApi, payment: Readonly<{ ref: string; tx: string }>): Promise<void>
  /** Decides from time to time until the signal. */
  run(api: PrivateApi, signal: AbortSignal): Promise<void>
  /** Transactions for which the operator vouched, or tried to. */
  vouched: ReadonlySet<string>
  counts: Readonly<{ drops: number; vouches: number; releases: number }>
}>

/** Time that a draft waits before the operator gives it up. */
const PATIENCE_MS = 500
const REASON = 'decided by the operator of the test'

export function openOperatorDesk(random: Random, payments: PaymentChain): OperatorDesk {
  const vouched = new Set<string>()
  const counts = { drops: 0, vouches: 0, releases: 0 }

  function isLost({ tx }: HeldRow): boolean {
    const fate = tx === null ? undefined : payments.fates.get(tx)
    return fate === 'never' || fate === 'gone'
  }

  async function say(api: PrivateApi, decision: string, refs: readonly string[]): Promise<number> {
    if (refs.length === 0) return 0
    const { status, body } = await api.post(`/held/${decision}`, { refs, reason: REASON })
    if (status !== 200) throw new Error(`${decision} answers ${status} ${body.code} ${body.detail}`)
    return refs.length
  }

  async function decide(api: PrivateApi, all: boolean): Promise<void> {
    const isOld = (row: HeldRow): boolean => Date.now() - row.acceptedAtMs > PATIENCE_MS
    const rows = await api.held()
    const chosen = (row: HeldRow): boolean => all || (isOld(row) && random.chance(0.5))
    const drops = rows.filter((row) => isLost(row) && chosen(row))
    const vouches = rows.filter(
      (row) => row.tx !== null && payments.fates.get(row.tx) === 'late' && random.chance(0.2),
    )
    for (const { tx } of vouches) vouched.add(tx ?? '')
    const refsOf = (some: readonly HeldRow[]): readonly string[] => some.map(({ ref }) => ref)
    counts.drops += await say(api, 'drop', refsOf(drops))
    counts.vouches += await say(api, 'vouch', refsOf(vouches))
    // A release never overrides the chain, so it may name any draft.
    if (random.chance(0.3)) counts.releases += await say(api, 'release', refsOf(rows.slice(0, 20)))
  }

  return {
    decide,
    async vouch(api, { ref, tx }) {
      vouched.add(tx)
      counts.vouches += await say(api, 'vouch', [ref])
    },
    async run(api, signal) {
      while (!signal.aborted) {
        await sleep(random.between(40, 200))
        // A kill of the service ends the question. Its effect is seen in the next list.
        if (!signal.aborted)
          await decide(api, false).catch((error: unknown) => {
            if (!signal.aborted && String(error).includes('answers')) throw error
          })
      }
    },
    vouched,
    counts,
  }
}
