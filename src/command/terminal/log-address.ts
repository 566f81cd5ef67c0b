import { DaybookError } from '../../client/daybook-error.ts'
import type { Surroundings } from '../../client/surroundings.ts'
import { harmless } from './output.ts'
import { CommandError } from './world.ts'

/** Redirects within one service that an answer may need. */
const REDIRECTS_MAX = 5

/** What an address is of, as it is asked for, and one of the kind. */
type Named = Readonly<{ what: string; example: string }>

const SERVED: Named = { what: 'the address of the service', example: 'https://data.example.org' }

/** Whether a word that a user gave is meant as an address. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** Reads the address of a service. What would be left out of it without a word is refused; no password is repeated. */
export function readAddress(text: string, { what, example }: Named = SERVED): URL {
  const url = isAddress(text) ? URL.parse(text) : null
  if (url === null) {
    throw new CommandError(2, `give ${what}, such as ${example}`)
  }
  const beyond = [
    ...(url.username === '' && url.password === '' ? [] : ['a name or password']),
    ...(url.pathname === '/' ? [] : ['a path']),
    ...(text.includes('?') ? ['a query'] : []),
    ...(text.includes('#') ? ['a fragment'] : []),
  ]
  if (beyond.length > 0) {
    throw new CommandError(2, `give ${what} without ${beyond.join(' or ')}, such as ${example}`)
  }
  return url
}

/**
 * A `fetch` that goes elsewhere only within the same origin. What is verified is said of the address that its user
 * gave: were it led to another, the report, the keys and the checkpoints that are kept would be of somebody else's
 * answers, and a host could lend itself the name of an honest log. The user decides which of the two is meant.
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
          `${origin} leads to ${harmless(to.origin)}: give that address if it is the one to verify`,
        )
      }
      if (redirects === REDIRECTS_MAX)
        throw new DaybookError('unexpected-answer', `${origin} leads in a circle`)
      url = to.href
    }
  }
}

function isRedirect({ status, headers }: Response): boolean {
  return status >= 300 && status < 400 && status !== 304 && headers.has('location')
}
