import { Presets, SingleBar } from 'cli-progress'
import type { CommandContext } from './command-context.ts'
import { formatBytes } from './output.ts'

/** Progress bar on a terminal; prints nothing elsewhere. */
type Progress = Readonly<{
  at(done: number, total: number, note?: string): void
  end(): void
}>

/** Opens a progress bar: `verb` is its label, `unit` what it counts. */
export function openProgress(verb: string, unit: string, context: CommandContext): Progress {
  const bar = new SingleBar(
    {
      format: `${verb} {bar} {percentage}% | {value}${unit === 'bytes' ? '' : ` ${unit}`}{note}`,
      formatValue: (value, _options, type) =>
        type === 'value' && unit === 'bytes' ? formatBytes(value) : String(value),
      hideCursor: true,
      noTTYOutput: false,
      stream: context.stderr,
    },
    Presets.shades_classic,
  )
  let shown = false
  return {
    at(done, total, note = '') {
      if (!context.interactive) return
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
