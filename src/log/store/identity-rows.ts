import { hash } from 'node:crypto'
import { isChain } from '../../protocol/tx.ts'
import type { FormerLog, LogIdentity } from './reader.ts'

/** Rows of `meta` with the identity of a log, in the order of their digest. */
const IDENTITY = ['id', 'origin', 'chain', 'simulated', 'former'] as const
/** Row with the SHA-256 of these rows, in hex, because no signature covers all of them. */
const DIGEST = 'identity_digest'
/** Rows of a log that other machines carry: the newest place in this store, and the digest of that row. */
export const CARRIED = { place: 'table_place', digest: 'table_digest' } as const
/**
 * Names of all other rows. A new name must be listed here, and raises the schema version unless only an option writes
 * it.
 */
const OTHERS: readonly string[] = [
  'needs',
  'empty_signature',
  'chain-id',
  'upgrade',
  'mirroring',
  'mirror_of',
  'mirror_vkeys',
  'mirror_first_use',
  'mirror_held',
  'mirror_proved_at',
  'mirror_contact_at',
  CARRIED.place,
  CARRIED.digest,
  'moved_signature',
]
const KNOWN: ReadonlySet<string> = new Set([...IDENTITY, DIGEST, ...OTHERS])

/** Rows of `meta` that identify the log of a store. */
export function rowsOfIdentity(identity: LogIdentity): readonly (readonly [key: string, value: string])[] {
  const { id, origin, chain, simulated, former } = identity
  const values = { id, origin, chain, simulated: simulated ? '1' : '0', former: JSON.stringify(former) }
  const rows = IDENTITY.map((key) => [key, values[key]] as const)
  return [...rows, [DIGEST, digestOf(new Map(rows))]]
}

/**
 * Identity in the rows of `meta`, or the reason why they are damaged. An unknown name may be a damaged one, so it is
 * refused. Otherwise a mirror could pass for a log of its own, and a carried log for one of this node alone.
 */
export function identityOfRows(meta: ReadonlyMap<string, string>): LogIdentity | string {
  const strange = [...meta.keys()].find((key) => !KNOWN.has(key))
  if (strange?.startsWith('engine_') === true) return OF_ENGINE
  if (strange !== undefined) return `its table meta has a row of an unknown name, ${JSON.stringify(strange)}`
  const chain = meta.get('chain') ?? ''
  if (!isChain(chain)) return `it names an unknown chain, ${JSON.stringify(chain)}`
  if (meta.get(DIGEST) !== digestOf(meta)) return 'the identity of its log is not what was written'
  const former = formerLogsOf(meta.get('former') ?? '[]')
  if (former === undefined) return 'its list of former logs cannot be read'
  return {
    id: meta.get('id') ?? '',
    origin: meta.get('origin') ?? '',
    chain,
    simulated: meta.get('simulated') === '1',
    former,
  }
}

const OF_ENGINE =
  'its log is on an engine of an earlier Daybook: take it off with daybook cluster move --back of that one'

function digestOf(meta: ReadonlyMap<string, string>): string {
  return hash('sha256', JSON.stringify(IDENTITY.map((key) => meta.get(key) ?? null)))
}

function formerLogsOf(json: string): readonly FormerLog[] | undefined {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
