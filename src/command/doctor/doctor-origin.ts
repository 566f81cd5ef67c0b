import type { Status } from '../../protocol/status-resources.ts'
import { namesNoSite } from '../operator/log-options.ts'
import { printable } from '../terminal/output.ts'
import { type Diagnosis, warn, wrong } from './diagnosis.ts'

/** A log whose name names no site, behind an address that others can use. */
export function originDiagnosis(
  { origin, simulated }: Pick<Status, 'origin' | 'simulated'>,
  url: string,
): readonly Diagnosis[] {
  if (!namesNoSite(origin) || isOwnMachine(new URL(url).hostname)) return []
  const named = printable(origin)
  return [
    simulated
      ? warn(
          'origin',
          `${named} is a demonstration, whose events are invented: publish a log made with --origin`,
        )
      : wrong('origin', `${named} is a log for development: publish a new log, made with --origin`),
  ]
}

/** Whether a host is this machine. */
function isOwnMachine(host: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)
}
