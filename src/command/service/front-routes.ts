import type { LogReader } from '../../log/store/reader.ts'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
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

/** Routes of one thread, without the streams. A serving thread and its answer threads have the same. */
export function frontRoutesOf(
  reader: LogReader,
  { site, asksChain }: Readonly<{ site: Site; asksChain: boolean }>,
  scripts: () => Promise<readonly Script[]>,
): Readonly<{ api: readonly Route[]; web: WebRoutes }> {
  const etag = openPresentEtag(reader.identity.id, VERSION)
  const desk = { reader, etag, cache: openAnswerCache() }
  const node = {
    version: VERSION,
    licence: site.licence,
    following: () => ({ state: 'leader', behind: 0 }) as const,
    asksChain,
  }
  const api = [...apiRoutes(desk, node), ...archiveRoutes(reader, etag)]
  const web = openWeb(api, {
    identity: reader.identity,
    site,
    assets: openAssets(scripts),
    present: (now) => `${reader.version()} ${floorTo(now, MINUTE_MS)}`,
  })
  return { api: [...api, ...rootRoutes(), ...datasetRoutes(reader, site)], web }
}
