import { statSync } from 'node:fs'
import { freeBytes } from '../../log/store/disk-probe.ts'
import { StoreError } from '../../log/store/store.ts'

/** Free disk that an upgrade needs, and free disk there is, in bytes. */
export type UpgradeRoom = Readonly<{ needBytes: number; freeBytes: number }>

/** Bytes of a new store for each byte of the old one, at most. */
const GROWTH = 1.25
/** Bytes that a small store needs too. */
const LEAST_BYTES = 4 * 1024 * 1024
/** Part of the new store's bytes that must stay free, so that a service can go on publishing. */
const RESERVE = 1 / 20

/** The disk that building a new store beside the old one still needs. */
export function roomFor(store: string, building: string): UpgradeRoom {
  const needBytes = Math.max(0, newBytesOf(store) - bytesOf(building))
  return { needBytes, freeBytes: freeBytes(store) }
}

export function refuseSmallDisk(room: UpgradeRoom): void {
  if (room.freeBytes >= room.needBytes) return
  throw new StoreError(
    `the upgrade needs ${megabytes(room.needBytes)} of free disk, and ${megabytes(room.freeBytes)} are free: make room and upgrade again`,
  )
}

/** Throws when little disk is left, for a service publishes on the same disk. What is built stays. */
export function refuseNearlyFull(store: string, building: string): void {
  if (roomFor(store, building).freeBytes >= newBytesOf(store) * RESERVE) return
  throw new StoreError(
    'the disk is nearly full, and the rest is left to the service: make room and upgrade again, which continues',
  )
}

function newBytesOf(store: string): number {
  return Math.ceil((bytesOf(store) + bytesOf(`${store}-wal`)) * GROWTH) + LEAST_BYTES
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
