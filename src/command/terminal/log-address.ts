import { DaybookError } from '../../client/daybook-error.ts'
import type { Surroundings } from '../../client/surroundings.ts'
import { UsageError } from './command-error.ts'
import { printable } from './output.ts'

/** Redirects that are followed within one origin. */
const REDIRECTS_MAX = 5

/** Text for an error message: the subject of the address, and an example. */
type AddressKind = Readonly<{ what: string; example: string }>

const SERVED: AddressKind = { what: 'the address of the service', example: 'https://data.example.org' }

/** Whether a user's argument is meant as an address, not as a path. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** Parses the address of a service. Refuses parts that would be ignored. The error repeats no password. */
export function readAddress(text: string, { what, example }: AddressKind = SERVED): URL {
  const url = isAddress(text) ? URL.parse(text) : null
  if (url === null) {
    throw new UsageError(`give ${what}, such as ${example}`)
  }
  const unused = [
    ...(url.username === '' && url.password === '' ? [] : ['a name or password']),
    ...(url.pathname === '/' ? [] : ['a path']),
    ...(text.includes('?') ? ['a query'] : []),
    ...(text.includes('#') ? ['a fragment'] : []),
  ]
  if (unused.length > 0) {
    throw new UsageError(`give ${what} without ${unused.join(' or ')}, such as ${example}`)
  }
  return url
}

/**
 * `fetch` that follows redirects only within the same origin. A report is about the address that the user gave. After a
 * redirect to another host, the report and the saved keys would describe that host. So the error names the other
 * address, and the user decides.
 */
export function fetchSameOrigin(fetch: Surroundings['fetch']): Surroundings['fetch'] {
  return async (first, init) => {
    let url = first
    for (let redirects = 0; ; redirects++) {
      const answer = await fetch(url, { ...init, redirect: 'manual' })
      const to = isRedirect(answer) ? URL.parse(answer.headers.get('location') ?? '', url) : null
      if (to === null) return answer
      await answer.body?.cancel()
      const { origin } = new URL(first)
      if (to.origin !== origin) {
        throw new DaybookError(
          'unexpected-answer',
          `${origin} redirects to ${printable(to.origin)}: give that address if it is the one to verify`,
        )
      }
      if (redirects === REDIRECTS_MAX)
        throw new DaybookError('unexpected-answer', `${origin} redirects in a circle`)
      url = to.href
    }
  }
}

function isRedirect({ status, headers }: Response): boolean {
  return status >= 300 && status < 400 && status !== 304 && headers.has('location')
}

/** A host name or address as a URL needs it: an IPv6 address in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
