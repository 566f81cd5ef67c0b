import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { checkServerIdentity as checkHost } from 'node:tls'
import type { TlsOptions } from '@nats-io/transport-node'
import ipaddr from 'ipaddr.js'
import { EngineError } from '../log-engine.ts'

const PORT_DEFAULT = 4222
const EXAMPLE = 'nats://a.example.org,b.example.org,c.example.org'
const FORM = /^(?<scheme>nats|tls):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)\/?(?:\?(?<query>[^#]*))?$/i
const HOST = /^(?:\[(?<six>[\da-f:.]+)\]|(?<plain>[^[\]:]+))(?::(?<port>\d{1,5}))?$/i

/** Brokers of one cluster, and how to connect with them. */
export type NatsTarget = Readonly<{
  /** `host:port` of each broker. Others that the cluster names are not used. */
  servers: readonly string[]
  /** Whether all brokers are on this machine. Only then may a connection be without TLS and without a user. */
  isLoopback: boolean
  /** TLS settings, as PEM; null without TLS. The certificate of a broker is always checked. */
  tls: Readonly<{ ca?: string; cert?: string; key?: string }> | null
}>

/**
 * Parses an address such as `nats://a,b:4223,c?ca=ca.pem`. The parameters `ca`, `cert` and `key` name PEM files, which
 * `readText` reads. `tls://` asks for TLS on loopback too. Throws an `EngineError`, which never repeats the address.
 */
export function parseNatsUrl(url: string, readText: (path: string) => string): NatsTarget {
  const { scheme = '', user, hosts = '', query = '' } = FORM.exec(url)?.groups ?? refuse()
  if (user !== undefined) {
    throw new EngineError(
      'the address of the brokers has a user or password: take it out, and give a credentials file',
    )
  }
  const servers = hosts
    .split(',')
    .filter((text) => text !== '')
    .map(hostOf)
  if (servers.length === 0) refuse()
  const isLoopback = servers.every(({ host }) => isLoopbackHost(host))
  const files = Object.fromEntries(
    [...new URLSearchParams(query)].map(([name, path]) => {
      if (!['ca', 'cert', 'key'].includes(name)) {
        throw new EngineError(
          'the address of the brokers has a parameter that is none of `ca`, `cert` and `key`',
        )
      }
      return [name, readText(path)]
    }),
  )
  const hasTls = !isLoopback || scheme.toLowerCase() === 'tls' || query !== ''
  return {
    servers: servers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`),
    isLoopback,
    tls: hasTls ? files : null,
  }
}

function refuse(): never {
  throw new EngineError(`the address of the brokers cannot be read: give one such as ${EXAMPLE}`)
}

function hostOf(text: string): Readonly<{ host: string; port: number }> {
  const { six, plain, port } = HOST.exec(text)?.groups ?? refuse()
  return { host: six ?? plain ?? '', port: Number(port ?? PORT_DEFAULT) }
}

/**
 * TLS options of a connection. A certificate must be that of one of the brokers, by name or address: the library tells
 * the check no address. Null without TLS.
 */
export function tlsOptionsOf({ tls, servers }: NatsTarget): TlsOptions | null {
  if (tls === null) return null
  const hosts = servers.map((server) => hostOf(server).host)
  const checkServerIdentity = (_: string, certificate: PeerCertificate): Error | undefined => {
    const faults = hosts.map((host) => checkHost(host, certificate))
    return faults.includes(undefined) ? undefined : faults[0]
  }
  return Object.assign({ checkServerIdentity }, tls)
}

/** Whether a host is this machine, by its name. A name that resolves to this machine does not count. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && ipaddr.parse(host).range() === 'loopback')
}

/** Whether a text is the seed of a user of NATS, by which this program signs in. */
export function isSeed(text: string): boolean {
  return /^SU[A-Z2-7]{56}$/.test(text.trim())
}

/** End of the message about a file without one. */
export const NO_SEED = 'no seed of a user of NATS (SU…): give the one of `cluster init`'
