import type { TreeHasher } from '../../tlog/hash.ts'
import { treeHasher } from '../../tlog/hash.ts'
import { sha256 } from './signer.ts'

/** The tree's hashes by the runtime's own SHA-256. */
export const HASHER: TreeHasher = treeHasher(sha256)
