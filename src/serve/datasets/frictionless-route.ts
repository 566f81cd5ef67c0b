import type { LogReader } from '../../log/store/reader.ts'
import { FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import { JSON_TYPE } from '../http/projection.ts'
import type { AnswerRoute } from '../http/route.ts'
import { formatFrictionless, type Publisher } from './frictionless.ts'
import { publishedFiles } from './published-files.ts'

/** Route of the Data Package. It is made again only when a month begins, because a closed month never changes. */
export function frictionlessRoute(log: LogReader, publisher: Publisher): AnswerRoute {
  let made: Readonly<{ months: number; body: Uint8Array }> | undefined
  return {
    path: FRICTIONLESS_PATH,
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    handle() {
      const months = log.snapshot((snapshot) => snapshot.months())
      if (made?.months !== months.length) {
        const text = formatFrictionless(publisher, log.identity, publishedFiles(publisher.url, months))
        made = { months: months.length, body: Buffer.from(text) }
      }
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: JSON_TYPE, body: made.body }
    },
  }
}
