import type { AuditState } from '../../log/audit-store.ts'
import type { LogLines } from './log-lines.ts'

/** Lines about audits. */
export type AuditLines = Readonly<{
  begun(): void
  /** Must be called with the state after each slice; writes a line at the end. */
  audited(state: AuditState): void
  /** Must be called when a passing fault of the machine ended an audit. */
  failed(reason: string): void
}>

/** Opens the lines about audits, which run one at a time. */
export function openAuditLines(lines: LogLines, monotonicMs: () => number): AuditLines {
  let beganMs = 0
  return {
    begun() {
      beganMs = monotonicMs()
      lines.say('audit-begun', {})
    },
    audited({ done, events, fault }) {
      if (!done || fault !== null) return
      lines.say('audited', { events, ms: Math.round(monotonicMs() - beganMs) })
    },
    failed: (reason) => lines.say('audit-failed', { reason }),
  }
}
