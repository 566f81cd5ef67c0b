import { ChainError } from '../../finality/rpc/chain-url.ts'
import type { FinalityGate } from '../../finality/gate/finality-gate.ts'
import { type FinalitySurroundings, openFinality } from '../../finality/gate/open-finality.ts'
import type { FromWriter, WriterSettings } from './writer-messages.ts'

/**
 * Opens the gate that asks the chain about held drafts, and checks that its servers are of the log's chain. Null without
 * `--finality`. Refuses the start, and returns undefined, when they are not. Returns undefined also when
 * the service is stopped before the servers have answered.
 */
export async function openGate(
  { finality }: WriterSettings,
  world: Omit<FinalitySurroundings, 'tell'>,
  say: (message: FromWriter) => void,
): Promise<FinalityGate | null | undefined> {
  if (finality === null) return null
  const gate = openFinality(finality, { ...world, tell: (report) => say({ is: 'finality', report }) })
  try {
    await gate.identify()
    return gate
  } catch (error) {
    if (world.signal.aborted) return undefined
    if (!(error instanceof ChainError)) throw error
    say({ is: 'refused', reason: `--finality: ${error.message}` })
    return undefined
  }
}
