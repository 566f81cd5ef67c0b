import type { Option } from 'commander'
import { optionOf, wholeBetween } from '../terminal/options.ts'

const STREAM_MAX = 1_000_000

/** The option `--stream`. */
export function streamOption(meaning: string): Option {
  return optionOf('cluster')('--stream <n>', meaning).argParser(wholeBetween(1, STREAM_MAX))
}
