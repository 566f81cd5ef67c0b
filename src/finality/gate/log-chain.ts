import { ChainError } from '../rpc/chain-url.ts'
import type { ChainClient } from '../chain/tx-verdict.ts'
import type { FinalityReport } from './finality-report.ts'

type LogChainSettings = Readonly<{
  client: ChainClient
  /** Id of the chain that has settled drafts of this log before; null before the first one. */
  keptChain(): string | null
  tell(report: FinalityReport): void
}>

/** The chain of the log. It is fixed by the first settlement. */
type LogChain = Readonly<{
  /** Asks the servers for their chain. Throws `ChainError` when they do not agree on it. */
  identify(): Promise<void>
  /** Asks again, and tells of servers that do not agree. */
  retry(): Promise<void>
  isKnown(): boolean
  /**
   * Id of the chain, for a settlement, which keeps it. Null when another node has settled drafts of this log by another
   * chain.
   */
  settling(): string | null
}>

/** Opens the chain of the log, which is not known until enough servers have answered. */
export function openLogChain({ client, tell, ...settings }: LogChainSettings): LogChain {
  let chainId: string | null = null
  let toldReason = ''

  async function ask(): Promise<void> {
    chainId = await client.identify(settings.keptChain())
    if (chainId !== null) tell({ is: 'chain', id: chainId })
  }

  return {
    async identify() {
      await ask()
      if (chainId === null) tell({ is: 'unanswered' })
    },
    async retry() {
      try {
        await ask()
      } catch (error) {
        if (!(error instanceof ChainError)) throw error
        if (error.message !== toldReason) tell({ is: 'other-chain', reason: error.message })
        toldReason = error.message
      }
    },
    isKnown: () => chainId !== null,
    settling() {
      const kept = settings.keptChain()
      // The servers are asked again, with the chain of the log, and what they answer is told.
      if (kept !== null && kept !== chainId) chainId = null
      return chainId
    },
  }
}
