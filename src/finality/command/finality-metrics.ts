import { Counter, type Registry } from 'prom-client'
import type { Ms } from '../../protocol/moment.ts'
import type { FinalityReport, PendingDrafts } from '../gate/finality-report.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import type { ReportReader, NodeTools } from '../../command/plug/option.ts'
import { gauge } from '../../serve/metrics/metrics.ts'

/** Time between two log lines about one fault of one server. */
const FAULT_LINE_MS = 60_000

/** Overdue drafts that one line names. */
const OVERDUE_NAMED_MAX = 20

/**
 * Registers the metrics of finality. Returns the reader of the gate's reports, which counts them and writes log lines.
 */
export function openFinalityMetrics({ registry, lines, context: { now } }: NodeTools): ReportReader {
  const none: PendingDrafts = { count: 0, oldestAcceptedAt: null, unsettled: 0 }
  const state = { pending: none, contradictions: 0 }
  gauge(registry, 'daybook_finality_pending', 'Drafts that wait for the chain', () => state.pending.count)
  gauge(
    registry,
    'daybook_finality_oldest_pending_seconds',
    'Age of the oldest draft that waits for the chain',
    () => {
      const { oldestAcceptedAt } = state.pending
      return oldestAcceptedAt === null ? 0 : Math.max(0, now() - oldestAcceptedAt) / 1000
    },
  )
  gauge(
    registry,
    'daybook_finality_unsettled',
    'Drafts that have waited for the chain for longer than --finality-overdue',
    () => state.pending.unsettled,
  )
  gauge(
    registry,
    'daybook_finality_contradictions',
    'Published events, and dropped or failed drafts, that the chain contradicts',
    () => state.contradictions,
  )
  const { errors, excess, less } = openCounters(registry)
  const sayFault = openFaultLines(lines, now)

  return (report: FinalityReport) => {
    switch (report.is) {
      case 'chain':
        return lines.say('chain-known', { chain: report.id })
      case 'unanswered':
        return lines.say('chain-silent', {})
      case 'other-chain':
        return lines.say('chain-other', { words: report.reason })
      case 'fault':
        errors.inc({ rpc: String(report.rpc), fault: report.fault, code: report.reply.code }, report.count)
        return sayFault(report)
      case 'pending':
        state.pending = report.pending
        return
      case 'overdue':
        return lines.say('chain-overdue', {
          drafts: report.drafts.slice(0, OVERDUE_NAMED_MAX),
          count: report.drafts.length,
          reason: report.answers.map(({ server, words }) => `${server}: ${words}`).join('; '),
        })
      case 'excess':
        excess.inc()
        return lines.say('amounts-more', { drafts: report.drafts })
      case 'less':
        less.inc()
        return lines.say('amounts-less', { drafts: report.drafts })
      case 'contradiction':
        return lines.say('contradicted', { of: report.of, reason: report.reason })
      case 'contradictions':
        state.contradictions = report.count
        return
      case 'failure':
        return lines.say('chain-failed', { reason: report.reason })
    }
  }
}

function openCounters(registry: Registry) {
  const registers = [registry]
  return {
    errors: new Counter({
      name: 'daybook_finality_rpc_errors_total',
      help: 'Faults of RPC servers, by number of the URL and code of the error',
      labelNames: ['rpc', 'fault', 'code'],
      registers,
    }),
    excess: new Counter({
      name: 'daybook_finality_amounts_more_total',
      help: 'Transactions whose payouts name more than was moved',
      registers,
    }),
    less: new Counter({
      name: 'daybook_finality_amounts_less_total',
      help: 'Transactions whose payouts name less than was moved',
      registers,
    }),
  }
}

/** Logs the faults of each server, by kind and code, once a minute with the count since. */
function openFaultLines(
  lines: LogLines,
  now: () => Ms,
): (fault: Extract<FinalityReport, { is: 'fault' }>) => void {
  const seen = new Map<string, { lineAt: number; count: number }>()
  return ({ name, fault, reply, count }) => {
    const key = `${name} ${fault} ${reply.code}`
    const known = seen.get(key) ?? { lineAt: Number.NEGATIVE_INFINITY, count: 0 }
    seen.set(key, known)
    known.count += count
    if (now() - known.lineAt < FAULT_LINE_MS) return
    const serverWords = reply.message === '' ? undefined : reply.message
    lines.say('rpc-fault', { rpc: name, fault, rpcCode: reply.code, count: known.count, serverWords })
    known.lineAt = now()
    known.count = 0
  }
}
