import type { LogReader } from '../../log/store/reader.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { Status } from '../../protocol/endpoints/description-endpoints.ts'
import { mirrorLineVersion } from '../../web/frame/mirror-line.ts'
import { openReportCell, type ReportCell } from '../../serve/following/report-cell.ts'
import { apiRoutes, type MirrorReport, type NodeReport } from '../../serve/api/api-routes.ts'
import { archiveRoutes } from '../../serve/archive/archive-routes.ts'
import { NO_PARQUET, type ParquetFiles } from '../../serve/archive/parquet-reply.ts'
import { frictionlessRoute } from '../../serve/describe/frictionless.ts'
import { openPresentEtag } from '../../serve/http/etag.ts'
import { siteCalendarRoute } from '../../serve/api/calendar.ts'
import { rootRoutes } from '../../serve/api/root-routes.ts'
import type { Route } from '../../serve/http/route.ts'
import { openAssets } from '../../web/assets/assets.ts'
import type { Script } from '../../web/assets/scripts.ts'
import { openWeb, type WebRoutes } from '../../web/web-routes.ts'
import type { Site } from '../../web/markup/site.ts'
import { VERSION } from '../terminal/version.ts'

/** Settings that answers show, structured-cloneable for other threads. */
export type ShownSettings = Readonly<{
  site: Site
  asksChain: boolean
  /** Memory of a mirror's report; null on a node that is no mirror. */
  mirror: SharedArrayBuffer | null
  /** Memory of this node's position in its log; null on a single node. */
  following: SharedArrayBuffer | null
}>

/** Reports of a node about itself, as its threads read them. */
type NodeReports = Readonly<{
  mirror: ReportCell<Omit<MirrorReport, 'version'>> | null
  following: ReportCell<Status['following']> | null
  /** Version of all these reports. */
  version(): number
}>

export function openNodeReports({
  mirror,
  following,
}: Pick<ShownSettings, 'mirror' | 'following'>): NodeReports {
  const cells: Pick<NodeReports, 'mirror' | 'following'> = {
    mirror: mirror === null ? null : openReportCell(mirror),
    following: following === null ? null : openReportCell(following),
  }
  return { ...cells, version: () => cells.mirror?.read()?.version ?? cells.following?.read()?.version ?? 0 }
}

/** Name of the state on which a page depends. It changes with each commit, each minute, and the line about a mirror. */
export function shownPresent(
  reader: Pick<LogReader, 'version'>,
  { mirror }: Pick<NodeReports, 'mirror'>,
  now: Ms,
): string {
  const report = mirror?.read() ?? null
  const line = report === null ? '' : mirrorLineVersion(report.mirror)
  return `${reader.version()} ${floorTo(now, MINUTE_MS)} ${line}`
}

/** Whether a node keeps up. A node without a report counts as following. */
function followingOf({ mirror, following }: NodeReports): Status['following'] {
  if (mirror !== null) return { state: 'follower', behind: mirror.read()?.mirror.behindEvents ?? 0 }
  if (following === null) return { state: 'leader', behind: 0 }
  const { state = 'follower', behind = 0 } = following.read() ?? {}
  return { state, behind }
}

/** Routes of one thread, without the streams. A serving thread and its answer threads have the same. */
export function frontRoutesOf(
  reader: LogReader,
  { site: plainSite, asksChain, ...memory }: ShownSettings,
  scripts: () => Promise<readonly Script[]>,
  parquet: ParquetFiles = NO_PARQUET,
): Readonly<{ api: readonly Route[]; web: WebRoutes }> {
  const etag = openPresentEtag(reader.identity.id, VERSION)
  const reports = openNodeReports(memory)
  const { mirror } = reports
  const site: Site =
    mirror === null ? plainSite : { ...plainSite, mirror: () => mirror.read()?.mirror ?? null }
  const node: NodeReport = {
    version: VERSION,
    licence: site.licence,
    following: () => followingOf(reports),
    asksChain,
    mirror: () => mirror?.read() ?? null,
  }
  const api = [...apiRoutes({ reader, etag }, node), ...archiveRoutes(reader, etag, parquet)]
  const web = openWeb(api, {
    identity: reader.identity,
    site,
    assets: openAssets(scripts),
    inOneSnapshot: reader.inOneSnapshot,
  })
  return {
    api: [...api, ...rootRoutes(), frictionlessRoute(reader, site), siteCalendarRoute(reader, site)],
    web,
  }
}
