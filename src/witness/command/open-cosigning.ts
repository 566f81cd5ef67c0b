import { openCrowdedReport } from '../../command/log-lines/node-lines.ts'
import type { Registry } from 'prom-client'
import type { TrustedLog } from '../../tlog/checkpoint.ts'
import {
  type Cosigner,
  type CosignerFact,
  type CosignerSettings,
  openCosigner,
} from '../cosigner/cosigner.ts'
import type { CosignerAnswer } from '../cosigner/cosigner-answer.ts'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import { CosignerStateError, hasCosignerState } from '../cosigner/state-file.ts'
import { openWitnessListener, WITNESS_CONNECTIONS_MAX } from '../cosigner/witness-listener.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import { orTaken } from '../../command/service/taken-port.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'
import { CommandError } from '../../command/terminal/command-error.ts'
import { openCosignerMetrics } from './witness-metrics.ts'

type CosigningSettings = Readonly<{
  /** Directory of the state. */
  data: string
  keys: readonly CosignerKey[]
  logs: readonly TrustedLog[]
  guard: CosignerSettings['guard']
  host: string
  port: number
  /** Option to name when the port is taken. */
  portOption: '--port' | '--witness-port'
  growthPerMinute: number
  acceptCopy: boolean
}>

/** The open state of a witness. `listen` starts its public listener. */
type Cosigning = Disposable &
  Readonly<{ cosigner: Cosigner; listen(): Promise<AsyncDisposable & Readonly<{ port: number }>> }>

/**
 * Opens a witness with its metrics and log lines. Throws a `CommandError` for a state with which it must not continue.
 */
export function openCosigning(
  settings: CosigningSettings,
  registry: Registry,
  context: Pick<CommandContext, 'now' | 'monotonicMs'>,
  lines: LogLines,
): Cosigning {
  const cosigner = openState(settings, context, lines)
  const metrics = openCosignerMetrics(registry, cosigner)
  const { monotonicMs } = context
  const onCrowded = openCrowdedReport('witness', WITNESS_CONNECTIONS_MAX, { registry, lines, monotonicMs })
  return {
    cosigner,
    listen: () =>
      orTaken(
        settings.portOption,
        openWitnessListener({
          host: settings.host,
          port: settings.port,
          cosigner,
          onAnswered(answer) {
            metrics.answered(answer.outcome)
            reportRefused(answer, lines)
          },
          onCrowded,
          onFailure: (error) => lines.say('witness-failed', { err: error }),
        }),
      ),
    [Symbol.dispose]: () => cosigner[Symbol.dispose](),
  }
}

function openState(
  { data, keys, logs, guard, growthPerMinute, acceptCopy }: CosigningSettings,
  { now, monotonicMs }: Pick<CommandContext, 'now' | 'monotonicMs'>,
  lines: LogLines,
): Cosigner {
  try {
    return openCosigner({
      dataDirectory: data,
      keys,
      logs,
      growthPerMinute,
      // A new state is no copy. `readWitnessKeys` has asked about its keys.
      acceptCopy: acceptCopy && hasCosignerState(data),
      guard,
      now,
      monotonicMs,
      onFact: (fact) => reportFact(fact, lines),
    })
  } catch (error) {
    if (error instanceof CosignerStateError) throw new CommandError(error.message, { cause: error })
    throw error
  }
}

function reportFact(fact: CosignerFact, lines: LogLines): void {
  switch (fact.is) {
    case 'cosigned':
      return lines.say('cosigned', { of: fact.origin, size: fact.size })
    case 'state-back':
      return lines.say('witness-back', { of: fact.origin, size: fact.size })
    case 'contradiction':
      return lines.say('log-contradicts', { of: fact.origin, evidence: fact.evidence })
    case 'clock':
      return lines.say('witness-clock', { of: fact.origin, ms: fact.behindSeconds * 1_000 })
    case 'unwritten':
      return lines.say('witness-unwritten', { reason: fact.reason })
  }
}

/** Reports a refusal, except a conflict, by which a log learns the size. */
function reportRefused({ status, outcome }: CosignerAnswer, lines: LogLines): void {
  if (status !== 200 && status !== 409) lines.say('checkpoint-refused', { status, fault: outcome })
}
