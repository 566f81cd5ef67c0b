/** URLs of one chain at most. */
const URLS_MAX = 8

/** Error for an unusable setting: a bad URL, or a URL of another chain. Has only the number and host of a URL. */
export class ChainError extends Error {
  override readonly name = 'ChainError'
}

/** URL of an RPC server. Its path, query and password may be secret, so only `name` may be shown. */
export type ChainUrl = Readonly<{
  /** Place in the settings, from 1. */
  number: number
  /** Such as `URL 2 (rpc.example.org)`. */
  name: string
  href: string
  /** Value of the header `Authorization`; null for a URL without a user. `fetch` refuses a URL with a user. */
  authorization: string | null
  /** Texts of the URL and of its header that may be a key, as written and decoded. */
  secrets: readonly string[]
}>

/** Parses the URLs of the settings. Throws `ChainError`. */
export function chainUrlsOf(urls: readonly string[]): readonly ChainUrl[] {
  if (urls.length === 0) throw new ChainError('no URL is given: give the URL of an RPC server')
  if (urls.length > URLS_MAX) throw new ChainError(`${urls.length} URLs are given: give ${URLS_MAX} at most`)
  const parsed = urls.map((text, at) => chainUrlOf(text, at + 1))
  for (const { href, name, number } of parsed) {
    const first = parsed.findIndex((other) => other.href === href) + 1
    // One server must not have two votes.
    if (first !== number) throw new ChainError(`${name} repeats URL ${first}: give each URL once`)
  }
  return parsed
}

function chainUrlOf(text: string, number: number): ChainUrl {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ChainError(`URL ${number} is no http or https URL: give one such as https://rpc.example.org`)
  }
  const { username, password } = url
  url.username = ''
  url.password = ''
  url.hash = ''
  const basic = username + password === '' ? '' : basicOf(username, password)
  return {
    number,
    name: `URL ${number} (${url.host})`,
    href: url.href,
    authorization: basic === '' ? null : `Basic ${basic}`,
    secrets: secretsOf(url, username, password, basic),
  }
}

/** Characters of the shortest part of a path or query that may be a key. */
const KEY_CHARS_MIN = 6

function secretsOf({ pathname, search }: URL, ...login: readonly string[]): readonly string[] {
  const values = search
    .slice(1)
    .split('&')
    // A key without a name may end with the `=` of its base64.
    .map((pair) => pair.replace(/^[^=]*=(?!=?$)/, ''))
  const parts = [...pathname.split('/'), ...values].filter((part) => part.length >= KEY_CHARS_MIN)
  const all = [...parts, ...login.filter((part) => part !== '')].flatMap((part) => [
    part,
    unescaped(part),
    // Servers read a plus sign of a query as a blank.
    unescaped(part.replaceAll('+', ' ')),
  ])
  // A secret that contains another goes first, because otherwise a part of it would remain.
  return [...new Set(all)].toSorted((a, b) => b.length - a.length)
}

function basicOf(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${unescaped(username)}:${unescaped(password)}`)
  return btoa(String.fromCharCode(...bytes))
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
