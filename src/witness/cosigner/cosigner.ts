import { formatHex, formatUtf8, openNote, type VerifierKey } from '../../tlog/note.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOfMachine } from '../../log/store/sqlite-error.ts'
import { sha256, verifyRawEd25519 } from '../../log/tree/signer.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { TrustedLog } from '../../tlog/checkpoint.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { type CosignedLogs, type CosignedTree, openCosignedLogs } from './cosigned-logs.ts'
import { conflictAnswer, cosignedAnswer, type CosignerAnswer, refusedAnswer } from './cosigner-answer.ts'
import { cosignatureLines, linesOf, ownCosignatures, type OwnCosignatures } from './cosigner-keys.ts'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import { type GrowthRate, openGrowthRate } from './growth-rate.ts'
import { CosignerStateError, openStateFile, type StateFile } from './state-file.ts'
import { parseSubmission, type Submission } from './submission.ts'
import type { ProvedLog } from '../../command/plug/option.ts'
import { isConsistent } from '../../tlog/proof.ts'
import { isSame, treeHasher } from '../../tlog/hash.ts'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from '../../log/store/durable-rename.ts'

/** Seconds within which an equal checkpoint gets the stored cosignatures again. */
export const REFRESH_SECONDS = 10
/** Most seconds by which the clock may be behind the last cosignature of a log. */
export const CLOCK_BEHIND_SECONDS_MAX = 60
/** Retry-After in seconds after a refusal that an operator may resolve: disk, clock, state. */
const OPERATOR_RETRY_SECONDS = 60
/** Most logs of one witness, and most keys of one log. */
export const WITNESSED_LOGS_MAX = 1_000
export const LOG_KEYS_MAX = 8

/** Event that a cosigner reports to its owner. */
export type CosignerFact =
  | Readonly<{ is: 'cosigned'; origin: string; size: number }>
  | Readonly<{ is: 'state-back'; origin: string; size: number }>
  | Readonly<{ is: 'contradiction'; origin: string; evidence: string }>
  | Readonly<{ is: 'clock'; origin: string; behindSeconds: number }>
  | Readonly<{ is: 'unwritten'; reason: string }>

export type CosignerSettings = Readonly<{
  /** Directory of its own: nothing else writes into it. */
  dataDirectory: string
  /** One key, or one of each type, all of the witness's name. */
  keys: readonly CosignerKey[]
  /** Logs to cosign, each with its keys. An origin occurs once. */
  logs: readonly TrustedLog[]
  /** New sizes of one log in a minute. */
  growthPerMinute: number
  /** Adopts a copied state, and advances to forgotten checkpoints. For one start only. */
  acceptCopy: boolean
  guard: CosignerGuard | null
  now(): Ms
  monotonicMs(): number
  /** Waits `ms` milliseconds; a timer if absent. */
  pause?: (ms: number) => Promise<void>
  onFact(fact: CosignerFact): void
}>

/** Witness that cosigns checkpoints that continue those it has cosigned before (C2SP tlog-witness). */
export type Cosigner = Disposable &
  Readonly<{
    name: string
    verifiers: readonly VerifierKey[]
    /** Answers a request to `add-checkpoint`. */
    add(body: Uint8Array): Promise<CosignerAnswer>
    /**
     * Newest cosigned checkpoint of a log as a note, by the SHA-256 of its origin in hex; undefined without one. Throws
     * disk errors.
     */
    noteOf(originHash: string): string | undefined
    /** Configured logs, with the size and time of the newest cosigned tree; null before the first. */
    sizes(): readonly Readonly<{ origin: string; size: number | null; time: number | null }>[]
    /** Logs that are refused, because the state went back. */
    refusedLogs(): number
    /** Number of stored contradictions of logs. */
    contradictions(): number
    /** Reads the state. Throws when that fails. */
    check(): void
  }>

/**
 * Opens a witness. The caller holds the lock of the directory. Throws a `CosignerStateError` for a state with which it
 * must not continue, and for an `acceptCopy` that is not needed.
 */
export function openCosigner(settings: CosignerSettings): Cosigner {
  const { dataDirectory, keys, acceptCopy } = settings
  const file = openStateFile(dataDirectory, acceptCopy)
  try {
    const logs = openCosignedLogs(file)
    const adopted = acceptCopy ? logs.adopt() : 0
    if (acceptCopy && !file.isTakenOver && adopted === 0) throw new CosignerStateError(NOT_NEEDED)
    const parts: Parts = {
      settings,
      file,
      logs,
      rate: openGrowthRate(settings.growthPerMinute, settings.monotonicMs, settings.pause ?? sleep),
      trusted: new Map(settings.logs.map((log) => [log.origin, log])),
    }
    const origins = [...settings.logs, ...logs.all()].map(({ origin }) => origin)
    const byHash = new Map(origins.map((origin) => [originHashOf(origin), origin]))
    return {
      name: keys[0]?.verifier.name ?? '',
      verifiers: keys.map(({ verifier }) => verifier),
      async add(body) {
        try {
          return await answer(parts, body)
        } catch (error) {
          reportUnwritten(settings, error)
          return UNWRITTEN
        }
      },
      noteOf(originHash) {
        const tree = logs.newest(byHash.get(originHash) ?? '')
        // No cosignature is sent before the mark of its commit is on the disk.
        if (tree !== undefined) file.settle()
        return tree === undefined ? undefined : noteOf(tree)
      },
      sizes: () =>
        settings.logs.map(({ origin }) => {
          const { size = null, time = null } = logs.newest(origin) ?? {}
          return { origin, size, time }
        }),
      refusedLogs: () => logs.forgottenOrigins().length,
      contradictions: () => countEvidence(dataDirectory),
      check: () => void logs.newest(''),
      [Symbol.dispose]: () => file[Symbol.dispose](),
    }
  } catch (error) {
    file[Symbol.dispose]()
    throw error
  }
}

const NOT_NEEDED =
  'nothing needs --accept-copy: start without it, so that a state which is restored later is found'

/** SHA-256 of an origin in hex, which names a log in the addresses of a witness. */
export function originHashOf(origin: string): string {
  return formatHex(sha256(formatUtf8(origin)))
}

type Parts = Readonly<{
  settings: CosignerSettings
  file: StateFile
  logs: CosignedLogs
  rate: GrowthRate
  trusted: ReadonlyMap<string, TrustedLog>
}>

async function answer(parts: Parts, body: Uint8Array): Promise<CosignerAnswer> {
  const parsed = parseSubmission(body)
  if (!parsed.ok) return refusedAnswer('malformed', parsed.reason)
  const { submission } = parsed
  const { checkpoint, note, oldSize } = submission
  const log = parts.trusted.get(checkpoint.origin)
  if (log === undefined) return refusedAnswer('unknown-log', 'this witness does not know the origin')
  const opened = await openNote(note, log.keys, verifyRawEd25519)
  if (!opened.ok) return refusedAnswer('unsigned', DOUBTS[opened.doubt])
  if (oldSize > checkpoint.size)
    return refusedAnswer('malformed', 'the old size is larger than that of the checkpoint')
  const verified = opened.value.signers.flatMap(({ name, keyId }) =>
    note.signatures.filter((line) => line.name === name && line.keyId === keyId).slice(0, 1),
  )
  const logLines = linesOf(note.text, verified)
  const own = await ownCosignatures(note, parts.settings.keys)
  const signed: SignedSubmission = { ...submission, logLines, own }
  // The state may change while the guard is asked, so all checks are repeated.
  const refusal = whyNot(parts, signed) ?? (await guarded(parts, signed))
  if (refusal !== null) return refusal
  const given = whyNot(parts, signed) ?? cosign(parts, signed, false)
  if (given !== 'no-allowance') return given
  const seconds = await parts.rate.wait(checkpoint.origin, checkpoint.size)
  if (seconds !== null) return tooMany(seconds)
  const refusedLater = await guarded(parts, signed)
  const later = refusedLater ?? whyNot(parts, signed) ?? cosign(parts, signed, true)
  return later === 'no-allowance' ? tooMany(1) : later
}

/** Refusal by the guard; null when it allows the cosignature. */
async function guarded({ settings }: Parts, signed: SignedSubmission): Promise<CosignerAnswer | null> {
  const refused = (await settings.guard?.(signed)) ?? null
  return refused === null ? null : refusedAnswer(refused.outcome, refused.reason, REFRESH_SECONDS)
}

function tooMany(seconds: number): CosignerAnswer {
  return refusedAnswer('rate-limited', 'the log has had too many new sizes in a minute', seconds)
}

/** Refusal of a signed submission; null when it continues the newest cosigned tree. Stores evidence that it shows. */
function whyNot(parts: Parts, signed: SignedSubmission): CosignerAnswer | null {
  const { logs } = parts
  const { origin } = signed.checkpoint
  const newest = logs.newest(origin)
  const isBack = isForgotten(signed, newest)
  if (isBack || logs.forgotten(origin) !== undefined) {
    if (isBack) keepForgotten(parts, signed)
    const reason = 'the state of this witness for the log went back: its operator must act'
    return refusedAnswer('state-back', reason, OPERATOR_RETRY_SECONDS)
  }
  if (newest !== undefined && contradicts(signed, newest)) keepEvidence(parts, signed, newest)
  return whyNotConsistent(signed, newest)
}

function keepForgotten(parts: Parts, { own, note, checkpoint, logLines }: SignedSubmission): void {
  if (own === undefined) return
  const { origin, size, root } = checkpoint
  const lines = linesOf(note.text, own.signatures)
  const tree = { origin, size, root, text: note.text, logLines, lines, time: own.time }
  ifWritten(parts, () => {
    if (parts.logs.forget(tree)) parts.settings.onFact({ is: 'state-back', origin, size })
  })
}

function keepEvidence(
  parts: Parts,
  { checkpoint, note, logLines }: SignedSubmission,
  newest: CosignedTree,
): void {
  const { origin, size } = checkpoint
  const { dataDirectory, onFact } = parts.settings
  const first = noteOf(newest)
  const second = `${note.text}\n${logLines}`
  ifWritten(parts, () => {
    const kept = keepContradiction(dataDirectory, { originHash: originHashOf(origin), size, first, second })
    if (kept !== null) onFact({ is: 'contradiction', origin, evidence: kept })
  })
}

/**
 * Cosigns a submission that continues the newest tree, and answers when the state is on the disk. A growth uses one of
 * its log's allowance, unless it `hasTurn`.
 */
function cosign(
  parts: Parts,
  { checkpoint, note, logLines }: SignedSubmission,
  hasTurn: boolean,
): CosignerAnswer | 'no-allowance' {
  const { settings, logs, file, rate } = parts
  const { origin, size, root } = checkpoint
  const newest = logs.newest(origin)
  const nowSeconds = Math.floor(settings.now() / 1_000)
  const age = nowSeconds - (newest?.time ?? 0)
  const isGrowth = newest === undefined || size > newest.size
  if (-age > CLOCK_BEHIND_SECONDS_MAX) {
    settings.onFact({ is: 'clock', origin, behindSeconds: -age })
    const reason = 'the clock of this witness is behind its last cosignature'
    return refusedAnswer('clock', reason, OPERATOR_RETRY_SECONDS)
  }
  if (!isGrowth && age < REFRESH_SECONDS) {
    if (newest.text !== note.text)
      return refusedAnswer('rate-limited', ANOTHER_TEXT, Math.min(REFRESH_SECONDS, REFRESH_SECONDS - age))
    file.settle()
    return cosignedAnswer('repeated', newest.lines)
  }
  if (isGrowth && !hasTurn && !rate.take(origin)) return 'no-allowance'
  const time = Math.max(nowSeconds, newest?.time ?? 1)
  const lines = cosignatureLines(settings.keys, time, note.text)
  const next = { origin, size, root, text: note.text, logLines, lines, time }
  if (!logs.replace(newest, next))
    throw new Error('the state of a witness changed while nothing else may write it')
  settings.onFact({ is: 'cosigned', origin, size })
  return cosignedAnswer('cosigned', lines)
}

const ANOTHER_TEXT = 'another text of this size was cosigned a moment ago'
const UNWRITTEN = refusedAnswer(
  'unwritten',
  'the state of this witness cannot be written',
  OPERATOR_RETRY_SECONDS,
)

/** Runs a disk change on which no answer depends. Reports a failure. */
function ifWritten({ settings }: Parts, change: () => void): void {
  try {
    change()
  } catch (error) {
    reportUnwritten(settings, error)
  }
}

/** Reports a disk failure, and throws any other error again. */
function reportUnwritten({ onFact }: CosignerSettings, error: unknown): void {
  if (!isOfMachine(error)) throw error
  onFact({ is: 'unwritten', reason: errorMessage(error) })
}

function noteOf({ text, logLines, lines }: CosignedTree): string {
  return `${text}\n${logLines}${lines}`
}

/** Submission signed by a key of the log, with the verified lines and the cosignatures of our own keys. */
type SignedSubmission = Submission & Readonly<{ logLines: string; own: OwnCosignatures | undefined }>

/**
 * Further condition of a cosignature, checked after all checks of tlog-witness. Null allows it. `unproved`: a 503.
 * `inconsistent`: a 422.
 */
type CosignerGuard = ProvedLog['whyNot']

const hasher = treeHasher(sha256)

/**
 * Refusal of a submission that does not continue the newest cosigned tree; null when it does. The checks have the order
 * of C2SP tlog-witness: old size, root of an empty tree, proof.
 */
function whyNotConsistent(
  { oldSize, proof, checkpoint }: Submission,
  newest: CosignedTree | undefined,
): CosignerAnswer | null {
  const size = newest?.size ?? 0
  if (oldSize !== size) return conflictAnswer(size)
  if (checkpoint.size === 0 && !isSame(checkpoint.root, hasher.empty))
    return refusedAnswer('inconsistent', 'the root of an empty tree is the hash of no bytes')
  if (newest === undefined || size === 0) {
    return proof.length === 0 ? null : refusedAnswer('inconsistent', 'a tree of size 0 needs no proof')
  }
  if (isConsistent(hasher, newest, checkpoint, proof)) return null
  return refusedAnswer(
    'inconsistent',
    checkpoint.size === size
      ? 'the root differs from that of the cosigned checkpoint of this size, or the proof is not empty'
      : 'the proof does not show that the tree grew from the cosigned one',
  )
}

/** Whether a signed checkpoint contradicts the cosigned one: equal sizes and different roots. */
function contradicts(
  { checkpoint }: Pick<Submission, 'checkpoint'>,
  newest: CosignedTree | undefined,
): boolean {
  return newest?.size === checkpoint.size && !isSame(newest.root, checkpoint.root)
}

/** Whether a cosignature of our own keys proves that the state has forgotten a checkpoint. */
function isForgotten({ own, checkpoint }: SignedSubmission, newest: CosignedTree | undefined): boolean {
  if (own === undefined) return false
  if (newest === undefined || checkpoint.size > newest.size || own.time > newest.time) return true
  return contradicts({ checkpoint }, newest)
}

/** Folder of evidence in the directory of a witness. */
const EVIDENCE_FOLDER = 'evidence'
/** Most stored contradictions of one log, so that a log cannot use up the space of another. */
export const CONTRADICTIONS_MAX = 8
/** Folder of a contradiction while it is written. A crash may leave it. */
const MAKING = 'making'
/** Hex digits of the hash of an origin in the name of a folder. */
const HASH_DIGITS = 16

/** Two checkpoints with valid signatures, the same origin and size, and different roots, as notes. */
type Contradiction = Readonly<{ originHash: string; size: number; first: string; second: string }>

/** Number of contradictions that a witness has stored. */
function countEvidence(dataDirectory: string): number {
  return foldersOf(join(dataDirectory, EVIDENCE_FOLDER)).length
}

/**
 * Stores a contradiction in a new folder. Returns its path; null when one of this log and size is stored already, or
 * the log has `CONTRADICTIONS_MAX`. Nothing ever removes them.
 */
export function keepContradiction(dataDirectory: string, found: Contradiction): string | null {
  const { originHash, size, first, second } = found
  const parent = join(dataDirectory, EVIDENCE_FOLDER)
  const ofLog = `${originHash.slice(0, HASH_DIGITS)}-`
  const folder = join(parent, `${ofLog}${size}`)
  const kept = foldersOf(parent).filter((name) => name.startsWith(ofLog))
  if (existsSync(folder) || kept.length >= CONTRADICTIONS_MAX) return null
  const making = join(parent, MAKING)
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  writeFileSync(join(making, 'first.note'), first, { flush: true })
  writeFileSync(join(making, 'second.note'), second, { flush: true })
  syncDirectory(making)
  renameSync(making, folder)
  for (const path of [parent, dataDirectory]) syncDirectory(path)
  return folder
}

function foldersOf(parent: string): readonly string[] {
  return existsSync(parent) ? readdirSync(parent).filter((name) => name !== MAKING) : []
}
