import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { type AuditState, openAudit } from '../../log/audit-store.ts'
import { type HighWater, readHighWater } from '../../log/store/high-water.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { isBehindCarrier, type LogFault } from '../../log/tree/log-fault.ts'
import { isPassingFault } from '../../log/store/sqlite-error.ts'
import { hasStore, openBeside, openForReading, storePath, StoreError } from '../../log/store/store.ts'
import { openProgress } from '../terminal/progress.ts'
import type { AuditLines } from '../log-lines/node-lines.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/** Pace of the audits of a served log. */
export type AuditPace = Readonly<{
  /** Milliseconds between two slices, so that an audit uses a small part of one thread. */
  pauseMs: number
  /** Milliseconds between two audits. */
  repeatMs: number
  /** Milliseconds from an audit with a temporary fault of the machine to the next one; `AUDIT_RETRY_MS` by default. */
  retryMs?: number
}>

const AUDIT_RETRY_MS = 60_000

export const AUDIT_PACE: AuditPace = { pauseMs: 20, repeatMs: 24 * 3_600_000 }

/** Hashes the whole log of a directory in one run. Throws a StoreError that names the first wrong seq. */
export async function auditOnce(
  data: string,
  context: CommandContext,
  { begun, audited }: AuditLines,
): Promise<void> {
  using db = openForReading(storePath(data))
  begun()
  // The start compares the log with its mark, because it knows the accepted differences.
  const state = await auditWhole(db, () => null, context)
  throwFault(state.fault)
  audited(state)
}

/** Hashes the whole log of an open store with a progress bar; returns the last state, with the fault. */
export async function auditWhole(
  db: DatabaseSync,
  mark: () => HighWater | null,
  context: CommandContext,
): Promise<AuditState> {
  const progress = openProgress('verifying', 'events', context)
  try {
    const next = openAudit(db, { mark, everySignature: true })
    for (let state = next(); ; state = next()) {
      progress.at(state.checked, state.events)
      if (state.done) return state
      await turn()
      if (context.stop.aborted) throw new CommandError('stopped before the whole log was checked')
    }
  } finally {
    progress.end()
  }
}

/**
 * Audits a served log repeatedly at a limited speed. `keys` are those of this node, which may have signed the mark. On
 * a fault of the log or its disk it calls `broken` with the reason, and ends. After a temporary fault of the machine,
 * such as too few open files, it audits again soon.
 */
export function startAudits(
  data: string,
  {
    pauseMs,
    repeatMs,
    retryMs = AUDIT_RETRY_MS,
    keys = [],
  }: AuditPace & Readonly<{ keys?: readonly SigningKey[] }>,
  listeners: readonly Partial<AuditLines>[],
  broken: (reason: string) => void,
): AsyncDisposable {
  const stop = new AbortController()
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stop.signal, ref: false }).catch(() => undefined)

  async function audit(): Promise<void> {
    // A failure to open the file says nothing about its content, but a service must not continue without its store.
    if (!hasStore(data)) throw new StoreError(`${storePath(data)} is gone`)
    using db = openBeside(storePath(data))
    for (const { begun } of listeners) begun?.()
    const next = openAudit(db, { mark: () => readHighWater(data), keys, everySignature: false })
    while (!stop.signal.aborted) {
      const state = next()
      // The table still has the events that a restored node lacks. The writer compares it with the served events.
      if (state.fault !== null && !isBehindCarrier(db, state.fault)) throwFault(state.fault)
      for (const { audited } of listeners) audited?.(state)
      if (state.done) return
      await pause(pauseMs)
    }
  }

  async function auditAgain(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await audit()
        await pause(repeatMs)
      } catch (error) {
        if (!isPassingFault(error)) throw error
        for (const { failed } of listeners) failed?.(errorMessage(error))
        await pause(retryMs)
      }
    }
  }
  const running = auditAgain().catch((error: unknown) => broken(errorMessage(error)))
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** File with the fault that an audit found, so that the next start checks the whole log first. */
const FAULT_FILE = 'audit-fault'

/** Writes the fault for the next start. Returns it, with the reason if writing failed. */
export function keepFault(data: string, reason: string): string {
  try {
    writeFileSync(join(data, FAULT_FILE), `${reason}\n`)
    return reason
  } catch (error) {
    return `${reason} (not kept for the next start: ${String(error)})`
  }
}

/** Whether the last audit of this log found a fault. */
export function hasFault(data: string): boolean {
  return existsSync(join(data, FAULT_FILE))
}

/** Removes the fault file, after the whole log was found right again. */
export function forgetFault(data: string): void {
  rmSync(join(data, FAULT_FILE), { force: true })
}

function throwFault(fault: LogFault | null): void {
  if (fault !== null) throw new StoreError(textOfFault(fault))
}

/** Text of a fault for the terminal. */
export function textOfFault({ seq, reason }: LogFault): string {
  return `seq ${seq}: ${reason}`
}
