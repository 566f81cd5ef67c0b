import { Counter, type Registry } from 'prom-client'
import type { LogLines } from '../log-lines/log-lines.ts'
import { openMinuteReport } from '../log-lines/node-lines.ts'

type CrowdedParts = Readonly<{ registry: Registry; lines: LogLines; monotonicMs(): number }>

/** Counts and tells the connections that a listener ends because it has `connectionsMax` and another one comes. */
export function openCrowdedReport(
  of: 'private' | 'witness',
  connectionsMax: number,
  { registry, lines, monotonicMs }: CrowdedParts,
): () => void {
  const name = 'daybook_connections_ended_total'
  const help = 'Connections that were ended to make room for others, by listener'
  // A mirror with a witness has both listeners.
  const known = registry.getSingleMetric(name)
  const ended =
    known instanceof Counter
      ? known
      : new Counter({ name, help, labelNames: ['listener'], registers: [registry] })
  ended.inc({ listener: of }, 0)
  const report = openMinuteReport(
    (count) => lines.say('listener-crowded', { of, count, connectionsMax }),
    monotonicMs,
  )
  return () => {
    ended.inc({ listener: of })
    report()
  }
}
