import type { BigIntStats } from 'node:fs'

/**
 * Inode number and birth time of a file, which a copy does not share. A file system that knows no birth time gives 0, and
 * the inode alone counts.
 */
export type FileIdentity = Readonly<{ inode: string; born: string }>

export function identityOf({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): FileIdentity {
  return { inode: String(ino), born: String(birthtimeNs) }
}

export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.inode === other.inode && one.born === other.born
}
