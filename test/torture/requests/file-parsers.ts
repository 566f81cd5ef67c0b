import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { hash } from 'node:crypto'
import { LAST_BACKUP_FILE, readLastBackup, writeLastBackup } from '../../../src/log/backup/last-backup.ts'
import { HIGH_WATER_FILE, markHighWater, readHighWater } from '../../../src/log/store/high-water.ts'
import { keepWitnessed, openWitnessedFile } from '../../../src/log/witnessed/witnessed-file.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { type AttackedParser, ofValue } from './attacked-parser.ts'
import { readMark, writeMark } from '../../../src/witness/cosigner/state-file.ts'

/** Bytes before the JSON in a place of the high-water mark, and of the whole place. */
const CRC_BYTES = 4
const PLACE_BYTES = 4_096
const AT = msOf(Date.UTC(2026, 10, 23))
const MARK = {
  log: 'a'.repeat(32),
  checkpoint: 'daybook.example/log\n9\nAAAA\n\n— daybook.example/log AAAA\n',
  former: [{ id: 'b'.repeat(32), size: 7 }],
  place: 9,
}

/** JSON beside its SHA-256, which is right again after any damage, so that the content itself is read. */
const sealedAgain = (content: Buffer): string =>
  `{"sha256":"${hash('sha256', content)}","content":${content.toString('latin1')}}\n`
const contentOf = (bytes: Buffer): string => /"content":(.*)\}\n$/s.exec(bytes.toString('utf8'))?.[1] ?? ''

/** A place of the high-water mark whose checksum is right. */
function placeOf(json: Uint8Array): Buffer {
  const place = Buffer.alloc(PLACE_BYTES)
  place.set(json.subarray(0, PLACE_BYTES - CRC_BYTES), CRC_BYTES)
  place.writeUInt32LE(crc32(place.subarray(CRC_BYTES)))
  return place
}

/** Parsers of files beside the store. They read files in this folder, which is removed after the test. */
export function fileParsers(folder: string): readonly AttackedParser[] {
  const pathOf = (name: string): string => join(folder, name)
  markHighWater(folder, MARK)
  const highWater = readFileSync(pathOf(HIGH_WATER_FILE))
  writeMark(folder, 17)
  const commits = readFileSync(pathOf('witness-mark'))
  keepWitnessed(folder, { quorum: 1, witnesses: [], newest: null })
  const witnessed = readFileSync(pathOf('witnessed.json'))
  writeLastBackup(folder, { at: AT, verifiedAt: AT, events: 9, bytes: 4_096 })
  const backup = readFileSync(pathOf(LAST_BACKUP_FILE))
  const readWitnessed = (bytes: Buffer | string) => {
    writeFileSync(pathOf('witnessed.json'), bytes)
    return ofValue(openWitnessedFile(folder)())
  }
  const readBackup = (bytes: Buffer | string) => {
    writeFileSync(pathOf(LAST_BACKUP_FILE), bytes)
    return ofValue(readLastBackup(folder))
  }
  return [
    {
      name: 'the high-water mark',
      valid: [highWater],
      throws: ['StoreError'],
      read(bytes) {
        writeFileSync(pathOf(HIGH_WATER_FILE), bytes)
        return ofValue(readHighWater(folder))
      },
    },
    {
      name: 'the content of the high-water mark',
      valid: [JSON.stringify({ turn: 1, ...MARK })],
      throws: ['StoreError'],
      read(bytes) {
        writeFileSync(pathOf(HIGH_WATER_FILE), Buffer.concat([placeOf(bytes), placeOf(Buffer.from('0'))]))
        return ofValue(readHighWater(folder))
      },
    },
    {
      name: 'the mark of a witness',
      valid: [commits],
      read(bytes) {
        writeFileSync(pathOf('witness-mark'), bytes)
        return ofValue(readMark(folder))
      },
    },
    { name: 'the cosigned checkpoints', valid: [witnessed], read: readWitnessed },
    {
      name: 'the content of the cosigned checkpoints',
      valid: [
        contentOf(witnessed),
        '{"quorum":1,"witnesses":[],"newest":{"seq":9,"atMs":1790812800000,"note":"a note"}}',
      ],
      read: (bytes) => readWitnessed(Buffer.from(sealedAgain(bytes), 'latin1')),
    },
    { name: 'the last backup', valid: [backup], read: readBackup },
    {
      name: 'the content of the last backup',
      valid: [contentOf(backup)],
      read: (bytes) => readBackup(Buffer.from(sealedAgain(bytes), 'latin1')),
    },
  ]
}
