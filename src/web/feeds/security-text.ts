import { DAY_MS, floorTo, formatAt, msOf } from '../../protocol/moment.ts'
import { type AnswerRoute, problemReply } from '../../serve/http/route.ts'
import type { Site } from '../markup/site.ts'

const PATH = '/.well-known/security.txt'
/** Days from the start of the service until the contact expires. RFC 9116 recommends less than a year. */
const VALID_DAYS = 364

/** `/.well-known/security.txt` (RFC 9116): where to report a vulnerability. 404 without a contact of the operator. */
export function securityRoute(site: Site): AnswerRoute {
  const body = securityText(site)
  return {
    path: PATH,
    parameters: [],
    allowance: 'none',
    brief: true,
    handle() {
      if (body === null) {
        return problemReply({
          code: 'not-found',
          detail: 'The operator of this service has published no contact, so there is no security.txt.',
        })
      }
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: 'text/plain; charset=utf-8', body }
    },
  }
}

/** Text of the file; null without a contact. Each start of the service confirms the contact. */
function securityText({ url, contact, startedAt }: Site): string | null {
  if (contact === null) return null
  const expires = msOf(floorTo(startedAt, DAY_MS) + VALID_DAYS * DAY_MS)
  return [
    `Contact: ${contact}`,
    `Expires: ${formatAt(expires)}`,
    'Preferred-Languages: en',
    `Canonical: ${url}${PATH}`,
    '',
  ].join('\n')
}
