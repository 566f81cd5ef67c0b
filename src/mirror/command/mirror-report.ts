import type { MirrorState } from '../mirror-watch.ts'
import type { Mirror } from '../../protocol/endpoints/description-endpoints.ts'
import { moment, type Ms } from '../../protocol/moment.ts'
import type { MirrorReport } from '../../serve/api/api-routes.ts'

/** Report for `/status` and the pages. `of` is the public address of the origin. */
export function mirrorReportOf(state: MirrorState, of: string): Omit<MirrorReport, 'version'> {
  const [provedAt, provedAtMs] = pairOf(state.provedAt)
  const [contactAt, contactAtMs] = pairOf(state.lastContactAt)
  const [heldAt, heldAtMs] = pairOf(state.held?.toldAt ?? null)
  const mirror: Mirror = {
    of,
    state: stateOf(state),
    reason: state.contradicted === null ? state.waits : null,
    originSeq: state.originHead,
    behindEvents: state.behindEvents,
    behindMs: state.behindMs,
    provedAt,
    provedAtMs,
    contactAt,
    contactAtMs,
    upstream: state.upstream,
    keys: state.pinned,
    keysFrom: state.pinnedOnFirstUse ? 'first_use' : 'operator',
    heldAt,
    heldAtMs,
    contradiction: state.contradicted?.reason ?? null,
  }
  return { mirror, finality: state.held?.counts ?? null }
}

function stateOf({ contradicted, waits }: MirrorState): Mirror['state'] {
  if (contradicted !== null) return 'stopped'
  return waits === null ? 'following' : 'waiting'
}

function pairOf(ms: Ms | null): readonly [string | null, number | null] {
  if (ms === null) return [null, null]
  const { at, atMs } = moment(ms)
  return [at, atMs]
}
