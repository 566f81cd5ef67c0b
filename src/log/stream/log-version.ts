import type { DatabaseSync } from 'node:sqlite'
import { text } from '../store/codec.ts'
import { StoreError } from '../store/store.ts'

/** The newest version that messages of a log may have, and the first Daybook that reads it. */
export type LogVersion = Readonly<{ frames: number; needs: string }>

const KEYS = { frames: 'engine_frames', needs: 'engine_needs' } as const
const VERSION = /^[1-9]\d{0,8}$/

/** The version before an operator has raised it. */
const FIRST: LogVersion = { frames: 1, needs: '0.1.0' }

/** Reads the version of a log. */
export function readLogVersion(db: DatabaseSync): LogVersion {
  const select = db.prepare('SELECT value FROM meta WHERE key = ?')
  const [frames, needs] = [select.get(KEYS.frames), select.get(KEYS.needs)]
  if (frames === undefined || needs === undefined) return FIRST
  const version = text(frames, 'value')
  if (!VERSION.test(version)) {
    throw new StoreError('the version of the messages in the store is damaged: restore the newest backup')
  }
  return { frames: Number(version), needs: text(needs, 'value') }
}

/** Writes the version, in the caller's transaction. */
export function writeLogVersion(db: DatabaseSync, { frames, needs }: LogVersion): void {
  const put = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  put.run(KEYS.frames, String(frames))
  put.run(KEYS.needs, needs)
}

/** Removes the version, in the caller's transaction: the log is on no engine then. */
export function clearLogVersion(db: DatabaseSync): void {
  const remove = db.prepare('DELETE FROM meta WHERE key = ?')
  for (const key of Object.values(KEYS)) remove.run(key)
}
