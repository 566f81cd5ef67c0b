import { asOf } from '../../project/answers/as-of.ts'
import { moment } from '../../protocol/moment.ts'
import { parsed } from '../../protocol/problem.ts'
import type { FinalityCounts } from '../../log/store/reader.ts'
import type { Finality, Mirror, Status } from '../../protocol/status-resources.ts'
import { type Desk, jsonProjection, project } from '../http/projection.ts'
import type { RouteReply } from '../http/endpoint-route.ts'

/** Report of a node about itself. */
export type NodeReport = Readonly<{
  version: string
  /** URL of the licence of the published log; null if none. */
  licence: string | null
  /** Whether the node keeps up. */
  following: () => Status['following']
  /** Whether the node asks the blockchain about transactions. */
  asksChain: boolean
  /** Report of a mirror; null or absent on a node that is no mirror. */
  mirror?: () => MirrorReport | null
}>

/** Report of a mirror about itself. Its version changes with everything else in it. */
export type MirrorReport = Readonly<{
  version: number
  mirror: Mirror
  /** The origin's word about held drafts; null before it has given it. */
  finality: Finality | null
}>

/** Reply of `/status`: the head and its age as of the present minute. */
export function statusReply(desk: Desk, node: NodeReport): RouteReply {
  const { id, origin, chain, simulated } = desk.reader.identity
  return (ask) =>
    project(desk, ask, ({ head, held }, present) => {
      const counts = held()
      const mirror = node.mirror?.() ?? null
      const following = node.following()
      const role = `${following.state === 'leader' ? '' : 'f'}${following.behind}`
      const own = `${counts.version}${node.asksChain ? 'a' : ''}${role}`
      return parsed({
        ground: 'minute',
        beside: mirror === null ? own : `m${mirror.version}`,
        compute() {
          // The head may be newer than the start of the minute; then its age is 0.
          const ageMs = head.atMs === null ? null : Math.max(0, present - head.atMs)
          const status: Status = {
            asOf: asOf(head),
            now: moment(present),
            head: { ...asOf(head), ageMs },
            version: node.version,
            log: id,
            origin,
            chain,
            simulated,
            following,
            // A mirror holds no drafts, and passes on the word of its origin.
            finality: mirror?.finality ?? finalityOf(counts, node.asksChain),
            mirror: mirror?.mirror ?? null,
          }
          return parsed(jsonProjection(status))
        },
      })
    })
}

function finalityOf(counts: FinalityCounts, asked: boolean): Finality {
  const { held, oldestMs, refused, failed, dropped, vouched } = counts
  const oldestAt = oldestMs === null ? null : moment(oldestMs).at
  return { asked, held, oldestAt, oldestAtMs: oldestMs, refused, failed, dropped, vouched }
}
