import assert from 'node:assert/strict'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { outsideReason } from '../../src/command/terminal/command-context.ts'
import { LAST_BACKUP_FILE, readLastBackup, writeLastBackup } from '../../src/log/backup/last-backup.ts'
import { NODE_SIGNATURES, verifyRawEd25519 } from '../../src/log/tree/signer.ts'
import { newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import { openForReading, storePath } from '../../src/log/store/store.ts'
import { keepWitnessed, openWitnessedFile } from '../../src/log/witnessed/witnessed-file.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { openNote, parseNote, type VerifierKey } from '../../src/tlog/note.ts'
import { openVouching } from '../../src/tlog/quorum.ts'
import { CosignerStateError } from '../../src/witness/cosigner/state-file.ts'
import { makeLog, openFolder } from '../story/damaged-log.ts'
import { openCampaign } from '../torture/campaign.ts'
import { type CosignerStage, openCosignerStage, shownNote, WITNESS_KEYS } from '../witness/cosigner-stage.ts'
import { sampleLog } from '../witness/sample-log.ts'

const CAMPAIGN = openCampaign('flipped-files')

/** A file of a node beside its store, and what the node reads of it. Null: it counts as missing, and is made again. */
type KeptFile = Readonly<{ path: string; read(): unknown; restore?(): void }>

/** Files of a data directory that say what was witnessed and backed up. */
function logFiles(data: string): Readonly<Record<string, KeptFile>> {
  makeLog(data, [3, 10])
  const db = openForReading(storePath(data))
  const note = newestCheckpoint(db).checkpoint
  db.close()
  const witness = { vkey: 'w1+key', url: 'http://127.0.0.1:1', state: 'cosigning' } as const
  const [seq, atMs] = [seqOf(10), msOf(1_760_000_000_000)]
  keepWitnessed(data, { quorum: 1, witnesses: [{ ...witness, seq, atMs }], newest: { seq, atMs, note } })
  writeLastBackup(data, { at: atMs, verifiedAt: msOf(atMs + 5), events: 10, bytes: 40_960 })
  return {
    'the witnessed checkpoint': {
      path: join(data, 'witnessed.json'),
      read: () => openWitnessedFile(data)(),
    },
    'the last backup': { path: join(data, LAST_BACKUP_FILE), read: () => readLastBackup(data) },
  }
}

const LOG = sampleLog('log.example/a')
const FORK = sampleLog('log.example/a', 100)

/** State and mark of a witness that has cosigned size 5. */
async function witnessFiles(stage: CosignerStage): Promise<Readonly<Record<string, KeptFile>>> {
  await stage.add(LOG.submission(0, 5))
  stage.close()
  const [state, mark] = ['witness.db', 'witness-mark'].map((name) => join(stage.data, name))
  assert.ok(state !== undefined && mark !== undefined)
  const kept = join(stage.data, 'kept-mark')
  linkSync(mark, kept)
  /** A commit puts another file in the place of the mark. */
  const restore = (): void => {
    rmSync(mark)
    linkSync(kept, mark)
  }
  const read = (): Promise<unknown> => answersOf(stage)
  return {
    'the state of a witness': { path: state, read, restore },
    'the mark of a witness': { path: mark, read, restore },
  }
}

/** Answers of a witness to a fork, to its newest checkpoint and to a reader. Null when one of them sees the damage. */
async function answersOf(stage: CosignerStage): Promise<unknown> {
  stage.facts.length = 0
  stage.reopen()
  try {
    const forks = [await stage.add(FORK.submission(0, 6)), await stage.add(FORK.submission(5, 6))]
    for (const [status] of forks) assert.notEqual(status, 200, 'a fork is cosigned')
    const note = shownNote(stage, LOG)
    const keys = WITNESS_KEYS.map(({ verifier }) => verifier)
    if (!(await isSignedBy(note, keys))) return null
    const answers = [...forks, await stage.add(LOG.submission(5, 5)), note]
    return stage.facts.some(({ is }) => is === 'clock') ? null : answers
  } finally {
    stage.close()
  }
}

/** Whether a reader finds valid signatures of the log and of each witness key on a note. */
async function isSignedBy(note: string, keys: readonly VerifierKey[]): Promise<boolean> {
  const parsed = parseNote(Buffer.from(note))
  if (!parsed.ok) return false
  const byLog = await openNote(parsed.value, [LOG.key], verifyRawEd25519)
  if (!byLog.ok) return false
  for (const key of keys) {
    const vouching = await openVouching(parsed.value, [key], NODE_SIGNATURES)
    if (!vouching.ok || vouching.value.vouchers.length !== 1) return false
  }
  return true
}

/** Flips a bit of a file, and returns what was found: nothing, when the node reads the same as before. */
async function flipped({ path, read, restore }: KeptFile, name: string): Promise<'found' | 'harmless'> {
  const { random } = CAMPAIGN
  const bytes = readFileSync(path)
  const expected = await read()
  assert.notEqual(expected, null, `${name} is whole`)
  const changed = Uint8Array.from(bytes)
  const at = random.below(bytes.length)
  changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8))
  try {
    // In place, so that the file stays the same one.
    writeFileSync(path, changed, { flag: 'r+' })
    const found = await read()
    if (found === null) return 'found'
    assert.deepEqual(found, expected, `${name}: byte ${at} is damaged in silence`)
    return 'harmless'
  } catch (error) {
    if (error instanceof CosignerStateError || outsideReason(error) !== undefined) return 'found'
    throw error
  } finally {
    restore?.()
    writeFileSync(path, bytes, { flag: 'r+' })
  }
}

suite('a file beside the store with any bit flipped', () => {
  test('is found to be damaged, or says what it said', async (t) => {
    using folder = openFolder()
    const figures: Record<string, number> = {}
    using stage = openCosignerStage([LOG])
    const files = { ...logFiles(folder.data), ...(await witnessFiles(stage)) }
    for (const [name, file] of Object.entries(files)) {
      for (let state = 0; state < CAMPAIGN.size; state += 1) {
        const outcome = await flipped(file, name)
        figures[outcome] = (figures[outcome] ?? 0) + 1
      }
    }
    CAMPAIGN.finish(t, figures, { found: CAMPAIGN.size })
  })
})
