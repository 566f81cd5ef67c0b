import type { LogLines } from '../log-lines/log-lines.ts'
import { Counter, type Registry } from 'prom-client'
import type { Ms } from '../../protocol/moment.ts'
import type { FinalityReport, PendingDrafts } from '../../finality/gate/finality-report.ts'
import type { FinalityCounts } from '../../log/store/reader.ts'
import { copiedCounter, gauge } from '../../serve/metrics/metrics.ts'

/** Time between two log lines about one fault of one server. */
const FAULT_LINE_MS = 60_000

/** Overdue drafts that one line names. */
const OVERDUE_NAMED_MAX = 20

/** Registers the metrics of finality. Returns what takes the reports of the gate, counts them and writes log lines. */
export function openFinalityMetrics(
  registry: Registry,
  lines: LogLines,
  now: () => Ms,
): (report: FinalityReport) => void {
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

  return (report) => {
    switch (report.is) {
      case 'chain':
        return lines.say('chain-known', { chain: report.id })
      case 'unanswered':
        return lines.say('chain-silent', {})
      case 'other-chain':
        return lines.say('chain-other', { words: report.reason })
      case 'fault':
        errors.inc({ rpc: String(report.rpc), fault: report.fault, code: report.said.code }, report.count)
        return sayFault(report)
      case 'pending':
        state.pending = report.pending
        return
      case 'overdue':
        return lines.say('chain-overdue', {
          drafts: report.drafts.slice(0, OVERDUE_NAMED_MAX),
          count: report.drafts.length,
          reason: report.said.map(({ server, words }) => `${server}: ${words}`).join('; '),
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

/** Registers the counts of held drafts in the store, which are read at each collection. */
export function watchHeld(registry: Registry, readStore: () => FinalityCounts): void {
  let last = readStore()
  // A store that cannot be read is a check of readiness. It must not take away all metrics.
  const read = (): FinalityCounts => {
    try {
      last = readStore()
    } catch {}
    return last
  }
  gauge(registry, 'daybook_finality_held', 'Drafts that are accepted and not published', () => read().held)
  gauge(
    registry,
    'daybook_finality_refused',
    'Held drafts that the books or the comparison of amounts refuse',
    () => read().refused,
  )
  copiedCounter(
    registry,
    'daybook_finality_failed_total',
    'Drafts whose transaction failed',
    () => read().failed,
  )
  copiedCounter(
    registry,
    'daybook_finality_dropped_total',
    'Drafts that the operator gave up',
    () => read().dropped,
  )
  copiedCounter(
    registry,
    'daybook_finality_vouched_total',
    'Events published by the operator’s word',
    () => read().vouched,
  )
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

/** Says the faults of each server, each kind and code once a minute with its count since. */
function openFaultLines(
  lines: LogLines,
  now: () => Ms,
): (fault: Extract<FinalityReport, { is: 'fault' }>) => void {
  const seen = new Map<string, { lineAt: number; count: number }>()
  return ({ name, fault, said, count }) => {
    const key = `${name} ${fault} ${said.code}`
    const known = seen.get(key) ?? { lineAt: Number.NEGATIVE_INFINITY, count: 0 }
    seen.set(key, known)
    known.count += count
    if (now() - known.lineAt < FAULT_LINE_MS) return
    const serverWords = said.words === '' ? undefined : said.words
    lines.say('rpc-fault', { rpc: name, fault, rpcCode: said.code, count: known.count, serverWords })
    known.lineAt = now()
    known.count = 0
  }
}
