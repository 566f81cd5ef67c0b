import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
import type { Status } from '../../protocol/resources.ts'
import type { NodeReport } from '../../serve/api/status-route.ts'
import { mirrorLineVersion } from '../../web/frame/mirror-line.ts'
import type { MirrorCell } from './mirror-cell.ts'
import { openMirrorCell } from './mirror-cell.ts'
import { openAnswerCache } from '../../serve/http/answer-cache.ts'
import { apiRoutes } from '../../serve/api/api-routes.ts'
import { archiveRoutes } from '../../serve/archive/archive-routes.ts'
import { datasetRoutes } from '../../serve/datasets/dataset-routes.ts'
import { openPresentEtag } from '../../serve/http/etag.ts'
import { rootRoutes } from '../../serve/api/root-routes.ts'
import type { Route } from '../../serve/http/route.ts'
import { openAssets } from '../../web/assets/assets.ts'
import type { Script } from '../../web/assets/bundle-cache.ts'
import type { WebRoutes } from '../../web/web-routes.ts'
import { openWeb } from '../../web/web-routes.ts'
import type { Site } from '../../web/markup/site.ts'
import { VERSION } from '../terminal/version.ts'

/** Settings that answers show; they may be passed between threads. */
export type ShownSettings = Readonly<{
  site: Site
  asksChain: boolean
  /** Memory of a mirror's report; null on a node that is no mirror. */
  mirror: SharedArrayBuffer | null
}>

/** Name of the state that a page depends on: it changes with each commit, each minute, and the words about a mirror. */
export function shownPresent(
  reader: Pick<LogReader, 'version'>,
  mirror: Pick<MirrorCell, 'read'> | null,
  now: Ms,
): string {
  const report = mirror?.read() ?? null
  const line = report === null ? '' : mirrorLineVersion(report.mirror)
  return `${reader.version()} ${floorTo(now, MINUTE_MS)} ${line}`
}

function followingOf(mirror: Pick<MirrorCell, 'read'> | null): Status['following'] {
  if (mirror === null) return { state: 'leader', behind: 0 }
  return { state: 'follower', behind: mirror.read()?.mirror.behindEvents ?? 0 }
}

/** Routes of one thread, without the streams. A serving thread and its answer threads have the same. */
export function frontRoutesOf(
  reader: LogReader,
  { site: plainSite, asksChain, mirror }: ShownSettings,
  scripts: () => Promise<readonly Script[]>,
): Readonly<{ api: readonly Route[]; web: WebRoutes }> {
  const etag = openPresentEtag(reader.identity.id, VERSION)
  const desk = { reader, etag, cache: openAnswerCache() }
  const cell = mirror === null ? null : openMirrorCell(mirror)
  const site: Site = cell === null ? plainSite : { ...plainSite, mirror: () => cell.read()?.mirror ?? null }
  const node: NodeReport = {
    version: VERSION,
    licence: site.licence,
    following: () => followingOf(cell),
    asksChain,
    mirror: () => cell?.read() ?? null,
  }
  const api = [...apiRoutes(desk, node), ...archiveRoutes(reader, etag)]
  const web = openWeb(api, {
    identity: reader.identity,
    site,
    assets: openAssets(scripts),
    present: (now) => shownPresent(reader, cell, now),
  })
  return { api: [...api, ...rootRoutes(), ...datasetRoutes(reader, site)], web }
}
