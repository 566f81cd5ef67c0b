import type { MirrorState } from '../../mirror/mirroring.ts'
import type { Mirror } from '../../protocol/mirror-resource.ts'
import type { Ms } from '../../protocol/moment.ts'
import { moment } from '../../protocol/moment.ts'
import type { MirrorReport } from '../../serve/api/status-route.ts'

/** Report for `/status` and the pages. `of` is the public address of the origin. */
export function mirrorReportOf(state: MirrorState, of: string): Omit<MirrorReport, 'version'> {
  const [provedAt, provedAtMs] = pairOf(state.provedAt)
  const [contactAt, contactAtMs] = pairOf(state.lastContactAt)
  const [heldAt, heldAtMs] = pairOf(state.held?.toldAt ?? null)
  const mirror: Mirror = {
    of,
    state: stateOf(state),
    originSeq: state.originHead,
    behindEvents: state.behindEvents,
    // The thread tells its state in the middle of a commit too, when the delay is not known again yet.
    behindMs: state.behindEvents === 0 ? 0 : state.behindMs,
    provedAt,
    provedAtMs,
    contactAt,
    contactAtMs,
    keys: state.pinned,
    keysFrom: state.pinnedOnFirstUse ? 'first_use' : 'operator',
    heldAt,
    heldAtMs,
    contradiction: state.contradicted?.reason ?? null,
  }
  return { mirror, finality: state.held?.counts ?? null }
}

/** A mirror waits until its origin has shown that what it has is right. */
function stateOf({ contradicted, fault, provedAt }: MirrorState): Mirror['state'] {
  if (contradicted !== null) return 'stopped'
  return fault !== null || provedAt === null ? 'waiting' : 'following'
}

function pairOf(ms: Ms | null): readonly [string | null, number | null] {
  if (ms === null) return [null, null]
  const { at, atMs } = moment(ms)
  return [at, atMs]
}
