import { tell, type World } from '../command/terminal/world.ts'

const REPEAT_MS = 60_000

/** Reports of something that keeps the command waiting: at its beginning, each minute while it lasts, and at its end. */
export type TroubleReport = Readonly<{
  lasts(line: string): void
  over(line: string): void
}>

export function openTroubleReport(world: World): TroubleReport {
  let saidMs: number | null = null
  return {
    lasts(line) {
      const now = world.monotonicMs()
      if (saidMs !== null && now - saidMs < REPEAT_MS) return
      saidMs = now
      tell(world, line)
    },
    over(line) {
      if (saidMs !== null) tell(world, line)
      saidMs = null
    },
  }
}
