import * as fc from 'fast-check'
import { NODE_PRIMITIVES } from '../../src/command/terminal/node-primitives.ts'
import type { Entry } from '../../src/protocol/event.ts'
import { type Audit, audit, type AuditSettings, inspect } from '../../src/verify/audit.ts'
import type { LogPart } from '../../src/verify/parts.ts'
import type { Change, PublicLog } from '../story/public-log.ts'
import { randomLogs } from '../story/random-log.ts'

/** 300 random logs, the most varied first: several months with contests, prizes, payouts and corrections. */
export const RICH_LOGS: readonly (readonly Entry[])[] = fc
  .sample(randomLogs, { seed: 26, numRuns: 300 })
  .toSorted((a, b) => richness(b) - richness(a))
export const RICH_LOG: readonly Entry[] = RICH_LOGS[0] ?? []

function richness(entries: readonly Entry[]): number {
  const names = new Set(entries.map(({ event }) => `${event.type}/${event.kind}/${event.contestId}`))
  return names.size
}

/** Audits a log with its own key. `change` alters the answers of the service. */
export function auditOf(log: PublicLog, change?: Change, more?: Partial<AuditSettings>): Promise<Audit> {
  return audit(settingsOf(log, change, more))
}

/** Inspects a part of a log, with the settings of `auditOf`. */
export function inspectOf(
  log: PublicLog,
  part: LogPart,
  change?: Change,
  more?: Partial<AuditSettings>,
): Promise<Audit> {
  return inspect(settingsOf(log, change, more), part)
}

function settingsOf(log: PublicLog, change?: Change, more: Partial<AuditSettings> = {}): AuditSettings {
  return {
    source: log.source(change),
    primitives: NODE_PRIMITIVES,
    own: { given: [log.key.vkey], keptOf: () => [] },
    saved: [],
    chain: null,
    witnesses: null,
    chance: () => 0.37,
    now: () => log.now,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...more,
  }
}

/** Findings of an audit, one line each. */
export function findingLines({ checks }: Audit): readonly string[] {
  return checks.flatMap(({ name, findings }) =>
    findings.map(({ place, what }) => `${name} | ${place}: ${what}`),
  )
}
