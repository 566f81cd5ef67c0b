import type { LogReader } from '../../log/store/reader.ts'
import { DATASET_PATHS } from '../../protocol/paths.ts'
import { JSON_TYPE } from '../http/projection.ts'
import type { AnswerRoute } from '../http/route.ts'
import { formatDcat } from './dcat.ts'
import { formatFrictionless } from './frictionless.ts'
import type { Publication, Publisher } from './publication.ts'
import { describePublication } from './publication.ts'
import { datasetsOf } from './published-files.ts'

/** Routes of the descriptions of all files for analysts: a Data Package, and a catalogue in DCAT. */
export function datasetRoutes(log: LogReader, publisher: Publisher): readonly AnswerRoute[] {
  return [
    descriptionRoute(DATASET_PATHS.frictionless, JSON_TYPE, log, publisher, formatFrictionless),
    descriptionRoute(DATASET_PATHS.dcat, 'application/ld+json', log, publisher, formatDcat),
  ]
}

/** Route of a description. It is made again only when a month begins, because a closed month never changes. */
function descriptionRoute(
  path: string,
  type: string,
  log: LogReader,
  publisher: Publisher,
  format: (publication: Publication) => string,
): AnswerRoute {
  let made: Readonly<{ months: number; body: Uint8Array }> | undefined
  return {
    path,
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    handle() {
      const months = log.snapshot((snapshot) => snapshot.months())
      if (made?.months !== months.length) {
        const { identity } = log
        const text = format({
          publisher,
          log: identity,
          description: describePublication(identity.simulated),
          datasets: datasetsOf(publisher.url, months),
        })
        made = { months: months.length, body: Buffer.from(text) }
      }
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type, body: made.body }
    },
  }
}
