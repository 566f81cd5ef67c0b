import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { outsideReason } from '../../src/command/terminal/world.ts'
import { LAST_BACKUP_FILE, readLastBackup, writeLastBackup } from '../../src/log/backup/last-backup.ts'
import { newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import { openForReading, storePath } from '../../src/log/store/store.ts'
import { keepWitnessed, openWitnessedFile } from '../../src/log/witnessed/witnessed-file.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { makeLog, openFolder } from '../story/damaged-log.ts'
import { openCampaign } from '../torture/campaign.ts'

const CAMPAIGN = openCampaign('flipped-files')

/** A file of a node beside its store, and what the node reads of it. Null: it counts as missing, and is made again. */
type KeptFile = Readonly<{ path: string; read(): unknown }>

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

/** Flips a bit of a file, and returns what was found: nothing, when the node reads the same as before. */
async function flipped({ path, read }: KeptFile, name: string): Promise<'found' | 'harmless'> {
  const { random } = CAMPAIGN
  const bytes = readFileSync(path)
  const expected = await read()
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
    if (error instanceof assert.AssertionError || outsideReason(error) === undefined) throw error
    return 'found'
  } finally {
    writeFileSync(path, bytes, { flag: 'r+' })
  }
}

suite('a file beside the store with any bit flipped', () => {
  test('is found to be damaged, or says what it said', async (t) => {
    using folder = openFolder()
    const figures: Record<string, number> = {}
    for (const [name, file] of Object.entries(logFiles(folder.data))) {
      for (let state = 0; state < CAMPAIGN.size; state += 1) {
        const outcome = await flipped(file, name)
        figures[outcome] = (figures[outcome] ?? 0) + 1
      }
    }
    CAMPAIGN.finish(t, figures, { found: CAMPAIGN.size })
  })
})
