import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { writeLastBackup } from '../../log/backup/last-backup.ts'
import { storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { watchStore } from './service-metrics.ts'

suite('the metrics of a data directory', () => {
  const data = mkdtempSync(join(tmpdir(), 'daybook-metrics-'))
  test.after(() => rmSync(data, { recursive: true }))
  const registry = new Registry()
  watchStore(registry, data)

  async function read(name: string): Promise<number> {
    const [, value] = new RegExp(`^${name} (.*)$`, 'm').exec(await registry.metrics()) ?? []
    return Number(value)
  }

  test('give the sizes of the store and of its disk', async () => {
    writeFileSync(storePath(data), 'x'.repeat(5_000))
    assert.equal(await read('daybook_store_bytes'), 5_000)
    assert.equal(await read('daybook_store_wal_bytes'), 0, 'there is no write-ahead log')
    writeFileSync(`${storePath(data)}-wal`, 'x'.repeat(300))
    assert.equal(await read('daybook_store_wal_bytes'), 300)
    const [free, size] = [await read('daybook_disk_free_bytes'), await read('daybook_disk_size_bytes')]
    assert.ok(free > 0 && free <= size, `${free} of ${size}`)
  })

  test('give the moments of the last backup and of its check, and 0 without one', async () => {
    assert.equal(await read('daybook_backup_last_success_timestamp_seconds'), 0)
    const at = msOf(1_790_812_800_000)
    writeLastBackup(data, { at, verifiedAt: msOf(at + 90_000), events: 5, bytes: 6_000 })
    assert.equal(await read('daybook_backup_last_success_timestamp_seconds'), 1_790_812_800)
    assert.equal(await read('daybook_backup_verify_last_success_timestamp_seconds'), 1_790_812_890)
  })
})
