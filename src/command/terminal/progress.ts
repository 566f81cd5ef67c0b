import { Presets, SingleBar } from 'cli-progress'
import { formatBytes } from './rounded-quantity.ts'
import type { World } from './world.ts'

/** Progress bar on a terminal; prints nothing elsewhere. */
type Progress = Readonly<{
  at(done: number, total: number, note?: string): void
  end(): void
}>

/** Opens a progress bar: `verb` is its label, `unit` what it counts. */
export function openProgress(verb: string, unit: string, world: World): Progress {
  const bar = new SingleBar(
    {
      format: `${verb} {bar} {percentage}% | {value}${unit === 'bytes' ? '' : ` ${unit}`}{note}`,
      formatValue: (value, _options, type) =>
        type === 'value' && unit === 'bytes' ? formatBytes(value) : String(value),
      hideCursor: true,
      noTTYOutput: false,
      stream: world.stderr,
    },
    Presets.shades_classic,
  )
  let shown = false
  return {
    at(done, total, note = '') {
      if (!world.interactive) return
      if (!shown) bar.start(total, done, { note })
      shown = true
      bar.setTotal(total)
      bar.update(done, { note })
    },
    end() {
      if (shown) bar.stop()
      shown = false
    },
  }
}
