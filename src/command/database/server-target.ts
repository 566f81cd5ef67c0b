import type { DatabaseHost, DatabaseTarget } from './database-target.ts'

/** The target of one server. Another machine is reached with TLS only, and its certificate is checked by default. */
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
