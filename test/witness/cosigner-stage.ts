import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { generateKeyPairSync } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Cosigner,
  type CosignerFact,
  type CosignerSettings,
  openCosigner,
  originHashOf,
} from '../../src/witness/cosigner/cosigner.ts'
import { type CosignerKey, cosignerKey } from '../../src/log/tree/cosigner-key.ts'
import { verifyRawEd25519, verifyRawMlDsa44 } from '../../src/log/tree/signer.ts'
import { parseNote, type VerifierKey } from '../../src/tlog/note.ts'
import { openVouching } from '../../src/tlog/quorum.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { SampleLog } from './sample-log.ts'

export const WITNESS_NAME = 'witness.example/w'
/** One key of each type. */
export const WITNESS_KEYS: readonly CosignerKey[] = [
  cosignerKey(WITNESS_NAME, generateKeyPairSync('ed25519').privateKey),
  cosignerKey(WITNESS_NAME, generateKeyPairSync('ml-dsa-44').privateKey),
]
/** Moment at which the clock of a stage begins. */
const STAGE_MS = 1_760_000_000_000
export const STAGE_SECONDS: number = STAGE_MS / 1_000

/** A witness in a temporary folder, with a clock that the test moves. */
export type CosignerStage = Disposable &
  Readonly<{
    data: string
    clock: { nowMs: number; monotonicMs: number }
    facts: CosignerFact[]
    /** The open witness. */
    cosigner(): Cosigner
    /** Closes the witness, and opens its state again. */
    reopen(settings?: Partial<CosignerSettings>): Cosigner
    close(): void
    /** Moves both clocks. */
    wait(seconds: number): void
    /** Status and body of the answer to a submission. */
    add(body: Uint8Array): Promise<readonly [status: number, body: string]>
  }>

/** Opens a witness for tests. */
export function openCosignerStage(
  logs: readonly Pick<SampleLog, 'origin' | 'key'>[],
  settings: Partial<CosignerSettings> = {},
): CosignerStage {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-cosigner-'))
  const data = join(folder, 'state')
  const clock = { nowMs: STAGE_MS, monotonicMs: 0 }
  const facts: CosignerFact[] = []
  const timers: { atMs: number; resolve(): void }[] = []
  const open = (own: Partial<CosignerSettings>): Cosigner =>
    openCosigner({
      dataDirectory: data,
      keys: WITNESS_KEYS,
      logs: logs.map(({ origin, key }) => ({ origin, keys: [key] })),
      growthPerMinute: 60,
      acceptCopy: false,
      guard: null,
      now: () => msOf(clock.nowMs),
      monotonicMs: () => clock.monotonicMs,
      // Time passes only in `wait`.
      pause: (ms) => new Promise((resolve) => timers.push({ atMs: clock.monotonicMs + ms, resolve })),
      onFact: (fact) => facts.push(fact),
      ...settings,
      ...own,
    })
  let cosigner: Cosigner | null = open({})
  const close = (): void => {
    cosigner?.[Symbol.dispose]()
    cosigner = null
  }
  const present = (): Cosigner => {
    if (cosigner === null) throw new Error('the witness of the stage is closed')
    return cosigner
  }
  return {
    data,
    clock,
    facts,
    cosigner: present,
    reopen(own = {}) {
      close()
      cosigner = open(own)
      return cosigner
    },
    close,
    wait(seconds) {
      clock.nowMs += seconds * 1_000
      clock.monotonicMs += seconds * 1_000
      const due = timers.filter(({ atMs }) => atMs <= clock.monotonicMs)
      for (const timer of due) timers.splice(timers.indexOf(timer), 1)
      for (const timer of due) timer.resolve()
    },
    async add(body) {
      const answer = await present().add(body)
      return [answer.status, answer.body]
    },
    [Symbol.dispose]() {
      close()
      rmSync(folder, { recursive: true })
    },
  }
}

const NODE = { verifyEd25519: verifyRawEd25519, verifyMlDsa44: verifyRawMlDsa44 }

/** Times at which keys have cosigned a note, seconds after the start of the stage; one verified key at a time. */
export async function timesOn(note: string, keys: readonly VerifierKey[]): Promise<readonly number[]> {
  const parsed = parseNote(Buffer.from(note))
  assert.ok(parsed.ok)
  const times: number[] = []
  for (const key of keys) {
    const opened = await openVouching(parsed.value, [key], NODE)
    assert.ok(opened.ok)
    times.push(...opened.value.vouchers.map(({ timeSeconds }) => timeSeconds - STAGE_SECONDS))
  }
  return times
}

/** The note that a witness shows of a log. */
export function shownNote(
  stage: Pick<CosignerStage, 'cosigner'>,
  { origin }: Pick<SampleLog, 'origin'>,
): string {
  return stage.cosigner().noteOf(originHashOf(origin)) ?? 'none'
}
