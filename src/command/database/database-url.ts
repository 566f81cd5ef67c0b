import { join } from 'node:path'
import { readPassword, readPem, systemReason } from '../terminal/option-paths.ts'
import { UsageError } from '../terminal/command-error.ts'

/**
 * TLS of a connection. `prefer` uses TLS if the server supports it; false never does. `checksName` is false when the
 * certificate may have another name.
 */
type DatabaseTls =
  | false
  | 'prefer'
  | Readonly<{ rejectUnauthorized: boolean; checksName?: false; ca?: string; cert?: string; key?: string }>

/** One server of a database: an address, or the directory of a Unix socket. */
export type DatabaseHost = Readonly<{ host: string; port: number }>

/** PostgreSQL database. A null part has the default of the environment, such as `PGUSER`. */
export type DatabaseTarget = Readonly<{
  /** Servers, tried in order; empty for the default. */
  hosts: readonly DatabaseHost[]
  user: string | null
  password: string | null
  database: string | null
  tls: DatabaseTls
  connectSeconds: number
  /** Name of the session in `pg_stat_activity`, and its settings (`-c name=value`). */
  applicationName: string
  options: string | null
  /** Name for messages: servers and database, without user and password. */
  shown: string
}>

/** Most bytes that are read of a certificate, a key or a password file. */
const SECRET_BYTES_MAX = 256 * 1024
const PORT_DEFAULT = 5_432
const CONNECT_SECONDS = 10
const EXAMPLE = 'postgres://daybook@db.example.org:5432/platform?sslmode=verify-full'

const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]*)(?:\/(?<database>[^@/?#]*))?(?:\?(?<query>[^#]*))?$/i

/** Parameters that are read. Those of the second list are accepted only with values that change nothing. */
const READ: readonly string[] =
  'host port user password dbname connect_timeout application_name options sslmode sslrootcert sslcert sslkey'.split(
    ' ',
  )
const WITHOUT_EFFECT: Readonly<Record<string, readonly string[]>> = {
  target_session_attrs: ['any', 'read-write', 'primary'],
  channel_binding: ['disable', 'prefer'],
  gssencmode: ['disable', 'prefer'],
}

/** Fault of the URL, in a message that does not repeat it. */
class UrlFault extends Error {}

/**
 * Parses a connection URL as libpq does. `passwordFile` overrides its password. Errors name the options of the URL and
 * the file, and never repeat their values.
 */
export function parseDatabaseUrl(
  url: string,
  passwordFile: string | null,
  option = '--from',
  passwordOption = '--password-file',
): DatabaseTarget {
  try {
    return targetOf(url, passwordFile, passwordOption)
  } catch (cause) {
    if (!(cause instanceof UrlFault)) throw cause
    throw new UsageError(`${option}: ${cause.message}`, { cause: cause.cause })
  }
}

function targetOf(url: string, passwordFile: string | null, passwordOption: string): DatabaseTarget {
  const {
    user = '',
    password = '',
    hosts = '',
    database = '',
    query = '',
  } = FORM.exec(url)?.groups ?? refuse()
  const given = readParameters(query)
  const servers = hostsOf(decoded(hosts) === '' ? (given.get('host') ?? '') : hosts, given.get('port'))
  const name = given.get('dbname') ?? decoded(database)
  const isSocket = servers.some(({ host }) => host.startsWith('/'))
  const seconds = given.get('connect_timeout') ?? String(CONNECT_SECONDS)
  if (!/^\d{1,4}$/.test(seconds)) throw new UrlFault('connect_timeout is no number of seconds')
  return {
    hosts: servers,
    user: given.get('user') ?? textOrNull(decoded(user)),
    password:
      passwordFile === null
        ? (given.get('password') ?? textOrNull(decoded(password)))
        : firstLine(passwordFile, passwordOption),
    database: textOrNull(name),
    tls: isSocket ? false : tlsOf(given),
    connectSeconds: Number(seconds) || CONNECT_SECONDS,
    applicationName: given.get('application_name') ?? 'daybook publish',
    options: given.get('options') ?? null,
    shown: `${servers.map(shownHost).join(',') || 'the default server'}/${name}`,
  }
}

function refuse(): never {
  throw new UrlFault(`give an address such as ${EXAMPLE}; percent-encode special characters of a password`)
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const given = new Map<string, string>()
  for (const pair of query.split('&').filter((text) => text !== '')) {
    const [name = '', ...rest] = pair.split('=').map(decoded)
    const value = rest.join('=')
    if (WITHOUT_EFFECT[name]?.includes(value) === true) continue
    if (!READ.includes(name)) {
      throw new UrlFault(`the parameter ${/^\w{1,40}$/.test(name) ? name : ''} is not supported`)
    }
    given.set(name, value)
  }
  return given
}

/** Servers of a list such as `a:5432,b,[::1]`, or the directory of a socket. */
function hostsOf(list: string, portGiven: string | undefined): readonly DatabaseHost[] {
  const texts = list.split(',').filter((text) => text !== '')
  if (texts.length === 0 && portGiven !== undefined) texts.push('localhost')
  return texts.map((text) => {
    const { six, plain, port } =
      /^(?:\[(?<six>[\da-f:.]+)\]|(?<plain>[^[\]:]+))(?::(?<port>\d{1,5}))?$/i.exec(text)?.groups ?? refuse()
    return { host: six ?? decoded(plain ?? ''), port: Number(port ?? portGiven ?? PORT_DEFAULT) }
  })
}

/** TLS by `sslmode`, with the same meaning as in libpq. */
function tlsOf(given: ReadonlyMap<string, string>): DatabaseTarget['tls'] {
  const mode = given.get('sslmode') ?? 'prefer'
  const root = given.get('sslrootcert') ?? null
  const [cert, key] = [given.get('sslcert'), given.get('sslkey')]
  const files = {
    ...(root === null || root === 'system' ? {} : { ca: contentOf(root, 'sslrootcert') }),
    ...(cert === undefined ? {} : { cert: contentOf(cert, 'sslcert') }),
    ...(key === undefined ? {} : { key: contentOf(key, 'sslkey') }),
  }
  switch (root === 'system' ? 'verify-full' : mode) {
    case 'disable':
      return false
    case 'allow':
    case 'prefer':
      return 'prefer'
    case 'require':
      // A root certificate makes `require` check the chain, as in libpq.
      return root === null
        ? { rejectUnauthorized: false, ...files }
        : { rejectUnauthorized: true, checksName: false, ...files }
    case 'verify-ca':
      return { rejectUnauthorized: true, checksName: false, ...files }
    case 'verify-full':
      return { rejectUnauthorized: true, ...files }
    default:
      throw new UrlFault('sslmode is disable, allow, prefer, require, verify-ca or verify-full')
  }
}

function contentOf(path: string, name: string): string {
  try {
    return readPem(path, SECRET_BYTES_MAX)
  } catch (cause) {
    throw new UrlFault(`the file of ${name} cannot be read: ${systemReason(cause)}`, { cause })
  }
}

function firstLine(path: string, option: string): string {
  try {
    return readPassword(path, SECRET_BYTES_MAX)
  } catch (cause) {
    throw new UsageError(`${option}: ${join(path)} cannot be read: ${systemReason(cause)}`, { cause })
  }
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse()
  }
}

/** Target of one server. Another machine requires TLS, and its certificate is checked by default. */
export function serverTarget(target: DatabaseTarget, host: DatabaseHost): DatabaseTarget {
  const one = { ...target, hosts: [host], shown: shownHost(host) }
  if (isLocal(host)) return one
  if (target.tls === false) {
    throw new Error('TLS is required for another machine: use sslmode=verify-full')
  }
  return { ...one, tls: target.tls === 'prefer' ? { rejectUnauthorized: true } : target.tls }
}

/** Whether a host is this machine: a Unix socket or a loopback address. */
export function isLocal({ host }: DatabaseHost): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Address of a server for messages. */
export function shownHost({ host, port }: DatabaseHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
