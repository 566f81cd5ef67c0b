import { RpcFailure } from './rpc-failure.ts'

/** Largest batch for one server. Mutable, because it follows the server's refusals. */
export type BatchLimit = {
  /** Parts of the next batch. */
  size: number
  /** Size of the largest batch that the server did not refuse. */
  ceiling: number
  /** Full batches that passed since `size` changed. */
  passed: number
}

export const openBatchLimit = (size: number): BatchLimit => ({ size, ceiling: size, passed: 0 })

/** Full batches without a timeout before a shortened batch size grows again. */
const PASSES_TO_GROW = 2
/** Refusals of single parts before the server counts as refusing everything. */
const REFUSALS_MAX = 2

/**
 * Requests all parts in batches. A refused batch is halved and sent again, and the size that passes is kept. A refused
 * single part is reported and left out. Throws the failure that stops the queries.
 */
export async function askInBatches<T>(
  limit: BatchLimit,
  parts: readonly T[],
  ask: (batch: readonly T[], from: number) => Promise<void>,
  report: (failure: RpcFailure) => void,
): Promise<void> {
  const before = { ...limit }
  let { size } = limit
  let refusals = 0
  for (let from = 0; from < parts.length;) {
    const batch = parts.slice(from, from + size)
    try {
      await ask(batch, from)
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      const { fault } = error
      if (fault === 'timeout' && batch.length > 1) resize(limit, Math.ceil(batch.length / 2))
      if (fault !== 'refused' && fault !== 'too-long') throw error
      if (batch.length > 1) {
        size = Math.ceil(batch.length / 2)
        continue
      }
      if (++refusals >= REFUSALS_MAX) throw error
      // The server refuses this part and not the size, so it may accept batches as large as before.
      report(error)
      Object.assign(limit, before)
      size = before.size
      from++
      continue
    }
    from += batch.length
    size = passedSize(limit, size, batch.length)
  }
}

/** Records a batch that passed. Returns the size of the next one. */
function passedSize(limit: BatchLimit, size: number, length: number): number {
  if (size < limit.size) {
    resize(limit, size)
    limit.ceiling = size
  }
  if (length === limit.size && limit.size < limit.ceiling && ++limit.passed >= PASSES_TO_GROW) {
    resize(limit, Math.min(limit.ceiling, limit.size * 2))
  }
  return limit.size
}

function resize(limit: BatchLimit, size: number): void {
  limit.size = size
  limit.passed = 0
}
