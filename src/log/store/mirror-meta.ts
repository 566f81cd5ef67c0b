import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from './store.ts'

/** Log that a store mirrors. Its rows are in `meta`, only in the store of a mirror. */
export type MirrorMeta = Readonly<{
  /** Origin of the followed service. */
  of: string
  /** Verifier keys by which the log is proved. */
  vkeys: readonly string[]
  /** Whether these keys came from the log itself, at first use. */
  firstUse: boolean
  /** Latest report of the origin about its held drafts, as JSON; null before the first. */
  held: string | null
  /** Moments of the last proof and of the origin's last answer, in milliseconds; null before the first. */
  provedAt: number | null
  contactAt: number | null
}>

/** Reads the rows of a mirror; null in the store of any other log. */
export function readMirrorMeta(db: DatabaseSync): MirrorMeta | null {
  const select = db.prepare('SELECT value FROM meta WHERE key = ?')
  const value = (key: string): string | null => {
    const found = select.get(key)?.['value']
    return typeof found === 'string' ? found : null
  }
  const of = value('mirror_of')
  if (of === null) return null
  return {
    of,
    vkeys: JSON.parse(value('mirror_vkeys') ?? '[]'),
    firstUse: value('mirror_first_use') === '1',
    held: value('mirror_held'),
    provedAt: numberOf(value('mirror_proved_at')),
    contactAt: numberOf(value('mirror_contact_at')),
  }
}

function numberOf(value: string | null): number | null {
  return value === null ? null : Number(value)
}

/** Writes the rows of a mirror, in the caller's transaction or in one of its own. */
export function writeMirrorMeta(db: DatabaseSync, meta: MirrorMeta): void {
  const { of, vkeys, firstUse, held, provedAt, contactAt } = meta
  const insert = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  insert.run('mirror_of', of)
  insert.run('mirror_vkeys', JSON.stringify(vkeys))
  insert.run('mirror_first_use', firstUse ? '1' : '0')
  if (held !== null) insert.run('mirror_held', held)
  if (provedAt !== null) insert.run('mirror_proved_at', String(provedAt))
  if (contactAt !== null) insert.run('mirror_contact_at', String(contactAt))
}

/** Throws a `StoreError` for the store of a mirror, in which nothing may be published or signed. */
export function refuseMirror(db: DatabaseSync): void {
  const meta = readMirrorMeta(db)
  if (meta === null) return
  throw new StoreError(
    `this directory holds a mirror of ${meta.of}: daybook mirror serves it; publish at the origin`,
  )
}
