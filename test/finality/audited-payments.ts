import { createHash } from 'node:crypto'
import type { ChainKind, Fate } from '../../sim/chain/chain-settings.ts'
import { openPretendChain, type PretendChain } from '../../sim/chain/pretend-chain.ts'
import type { Faults } from '../../sim/chain/rpc-faults.ts'
import { openRpcServer } from '../../sim/chain/rpc-server.ts'
import { openChain } from '../../src/finality/chain/open-chain.ts'
import { NODE_PRIMITIVES } from '../../src/command/terminal/node-primitives.ts'
import { type ChainCheckSettings, openChainCheck } from '../../src/finality/audit/ask-chain.ts'
import type { Audit, AuditSettings } from '../../src/verify/audit.ts'
import { paidLog, type Payment } from '../story/paid-log.ts'
import { type Change, publicLog } from '../story/public-log.ts'
import { auditOf } from '../stage/audit-stage.ts'

/** Moment at which the chain is asked. */
export const NOW: number = Date.UTC(2026, 5, 1)
const DECIMALS = 6

/** A chain on which `payer` has sent 20 payments of 5 tokens an hour ago, and the log that names them. */
type PaidStage = Readonly<{
  chain: PretendChain
  account: Readonly<{ payer: string; token: string }>
  payments: readonly Payment[]
  /** Course of a transaction that moves so many tokens. */
  moving(tokens: number): Fate
}>

export function paidStageOf(kind: ChainKind): PaidStage {
  const named = openPretendChain({ kind, seed: 'verify', now: () => NOW })
  const account = { payer: named.addressOf('payer'), token: named.addressOf('token') }
  const chain = openPretendChain({
    kind,
    seed: 'verify',
    now: () => NOW,
    startedAt: NOW - 7_200_000,
    tokens: { [account.token]: DECIMALS },
  })
  const moving = (tokens: number): Fate => {
    const transfer = { ...account, payee: chain.addressOf('player'), units: BigInt(tokens) * 10n ** 6n }
    return { sentAt: NOW - 3_600_000, transfers: [transfer] }
  }
  const payments = Array.from({ length: 20 }, (_, index) => ({ tx: chain.txOf(index), tokens: 5 }))
  for (const { tx } of payments) chain.send(tx, moving(5))
  return { chain, account, payments, moving }
}

/** Audits a log of these payments against servers with these faults. */
export async function auditedPayments(
  { chain, payments, account }: PaidStage,
  {
    faults = [{}],
    restMs = 3_600_000,
    change,
    onRead = () => undefined,
    onProgress = () => undefined,
    ...more
  }: Partial<ChainCheckSettings> &
    Readonly<{
      faults?: readonly Faults[]
      restMs?: number
      change?: readonly Payment[]
      /** Called with the path of each answer of the service. */
      onRead?: (path: string) => void
      onProgress?: AuditSettings['onProgress']
    }> = {},
): Promise<Audit> {
  await using opened = new AsyncDisposableStack()
  const servers = await Promise.all(
    faults.map(async (own) => opened.use(await openRpcServer({ chain, faults: own, path: '/secret-key' }))),
  )
  const urls = servers.map(({ url }) => url)
  const { signal } = new AbortController()
  const settings = { chain: chain.kind, urls, signal, timeoutMs: 2_000, now: () => performance.now() }
  const log = publicLog(paidLog(change ?? payments, restMs))
  const questions: ChainCheckSettings = {
    chain: chain.kind,
    client: openChain(settings),
    hosts: urls.map((url) => new URL(url).host),
    account,
    isSimulated: false,
    sample: 100,
    largest: 3,
    wanted: null,
    drawKey: () => createHash('sha256').update('key').digest(),
    pause: async () => undefined,
    sha256: NODE_PRIMITIVES.sha256,
    now: () => log.now,
    ...more,
  }
  // The servers close when this function returns.
  const told: Change = (path, body) => {
    onRead(path)
    return body
  }
  return await auditOf(log, told, { chain: openChainCheck(questions), onProgress })
}

/** Result of the check against the chain. */
export function chainCheck({ checks }: Audit): Readonly<{ is: string; says: string }> {
  const { is = '', says = '' } = checks.find(({ name }) => name === 'chain') ?? {}
  return { is, says }
}
