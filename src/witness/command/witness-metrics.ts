import { collectDefaultMetrics, Counter, Registry } from 'prom-client'
import { gauge } from '../../serve/metrics/metrics.ts'
import type { Cosigner } from '../cosigner/cosigner.ts'
import { COSIGNER_OUTCOMES, type CosignerOutcome } from '../cosigner/cosigner-answer.ts'

/** Metrics of a witness. `answered` counts an answer to `add-checkpoint`. */
type CosignerMetrics = Readonly<{ answered(outcome: CosignerOutcome): void }>

/** Opens the metrics of a process that is only a witness. */
export function openWitnessRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** Registers the metrics of a witness. */
export function openCosignerMetrics(registry: Registry, cosigner: Cosigner): CosignerMetrics {
  const requests = new Counter({
    name: 'daybook_cosigner_requests_total',
    help: 'Checkpoints that were sent to this witness, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  })
  // A series must exist from the start to show its first increase.
  for (const outcome of COSIGNER_OUTCOMES) requests.inc({ outcome }, 0)
  const times = (): readonly number[] => cosigner.sizes().flatMap(({ time }) => time ?? [])
  gauge(registry, 'daybook_cosigner_logs', 'Logs that this witness cosigns', () => cosigner.sizes().length)
  gauge(
    registry,
    'daybook_cosigner_cosigned_timestamp_seconds',
    'When this witness last cosigned; 0 before the first cosignature',
    () => Math.max(0, ...times()),
  )
  gauge(
    registry,
    'daybook_cosigner_refused_logs',
    'Logs that are refused because the state of this witness went back',
    cosigner.refusedLogs,
  )
  gauge(
    registry,
    'daybook_cosigner_contradictions',
    'Kept contradictions: two signed trees of one log and size',
    cosigner.contradictions,
  )
  return { answered: (outcome) => requests.inc({ outcome }) }
}
