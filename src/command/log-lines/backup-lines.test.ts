import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeLastBackup } from '../../log/backup/last-backup.ts'
import { msOf } from '../../protocol/moment.ts'
import { watchBackups } from './backup-lines.ts'
import { openLines } from './log-lines.ts'

test('a backup that another process makes has one line, and the one before the start has none', async () => {
  const data = mkdtempSync(join(tmpdir(), 'daybook-backup-lines-'))
  const made = (at: number, events: number): void =>
    writeLastBackup(data, { at: msOf(at), verifiedAt: msOf(at + 250), events, bytes: 9 })
  const said: unknown[] = []
  let heard = Promise.withResolvers<void>()
  const choice = { level: 'info', callers: false, without: [] } as const
  const lines = openLines(
    (name, values) => {
      said.push([name, values])
      heard.resolve()
    },
    () => performance.now(),
    () => choice,
  )
  made(1_000, 3)
  using _watch = watchBackups(data, lines, 5)
  // The watch alone keeps no process alive.
  const alive = setInterval(() => {}, 1_000)
  try {
    made(2_000, 4)
    await heard.promise
    heard = Promise.withResolvers()
    made(3_000, 5)
    await heard.promise
  } finally {
    clearInterval(alive)
    rmSync(data, { recursive: true })
  }
  assert.deepEqual(said, [
    ['backed-up', { events: 4, ms: 250 }],
    ['backed-up', { events: 5, ms: 250 }],
  ])
})
