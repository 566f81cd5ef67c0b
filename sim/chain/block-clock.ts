import type { ChainSettings } from './chain-settings.ts'

/** Numbers and moments of the blocks of a pretend chain. */
export type BlockClock = Readonly<{
  blockMs: number
  confirmDepth: number
  headAt(moment: number): number
  timeOf(block: number): number
  /** Final block when `head` is the newest. */
  finalAt(head: number): number
  momentOfFinal(block: number): number
}>

export function blockClock(settings: ChainSettings): BlockClock {
  const solana = settings.kind === 'solana'
  const blockMs = settings.blockMs ?? (solana ? 400 : 12_000)
  const finalDepth = settings.finalDepth ?? (solana ? 31 : 64)
  const step = settings.finalStep ?? (solana ? 1 : 32)
  const startedAt = settings.startedAt ?? settings.now() - 600_000
  const timeOf = (block: number): number => startedAt + block * blockMs
  return {
    blockMs,
    confirmDepth: settings.confirmDepth ?? (solana ? 1 : 32),
    timeOf,
    headAt: (moment) => Math.max(0, Math.floor((moment - startedAt) / blockMs)),
    finalAt: (head) => Math.max(0, Math.floor((head - finalDepth) / step) * step),
    momentOfFinal: (block) => timeOf(Math.ceil(block / step) * step + finalDepth),
  }
}
