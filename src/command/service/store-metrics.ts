import { stat, statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'
import { readLastBackup } from '../../log/backup/last-backup.ts'
import { storePath } from '../../log/store/store.ts'
import { gauge } from '../../serve/metrics/metrics.ts'

/** Registers the gauges of a data directory: its disk, its files and its last backup. Each is read at each collection. */
export function watchStore(registry: Registry, data: string): void {
  const store = storePath(data)
  const disk = { free: 'daybook_disk_free_bytes', size: 'daybook_disk_size_bytes' }
  measure(registry, disk.free, 'Bytes that the service may still write to the disk of its data', async () => {
    const { bavail, bsize } = await statfs(data)
    return bavail * bsize
  })
  measure(registry, disk.size, 'Size of the disk of the data directory', async () => {
    const { blocks, bsize } = await statfs(data)
    return blocks * bsize
  })
  measure(registry, 'daybook_store_bytes', 'Size of the store without its write-ahead log', () =>
    sizeOf(store),
  )
  measure(registry, 'daybook_store_wal_bytes', 'Size of the write-ahead log of the store', () =>
    sizeOf(`${store}-wal`),
  )
  gauge(
    registry,
    'daybook_backup_last_success_timestamp_seconds',
    'When the last backup began that ended well; 0 without one',
    () => (readLastBackup(data)?.at ?? 0) / 1000,
  )
  gauge(
    registry,
    'daybook_backup_verify_last_success_timestamp_seconds',
    'When a backup was last verified; 0 without one',
    () => (readLastBackup(data)?.verifiedAt ?? 0) / 1000,
  )
}

function measure(registry: Registry, name: string, help: string, read: () => Promise<number>): void {
  const made = new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      this.set(await read())
    },
  })
  registry.registerMetric(made)
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    // A store without writers has no write-ahead log.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}
