import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

type TroubledKind = 'slow' | 'backfill' | 'silent' | 'dead' | 'stalled'
/** Subscribers of one kind at one loopback address. */
export type TroubledGroup = Readonly<{ kind: TroubledKind; address: string; count: number }>
/** Cursor of a connection, and the lines that came whole. */
export type SlowVisit = Readonly<{ after: number; lines: readonly string[] }>

/** Subscribers in a process of their own, which has control over the packets that its kernel takes. */
type TroubledReaders = AsyncDisposable &
  Readonly<{
    /** Kills the links of those whose kind says so. Resolves with their number. */
    cutLinks(): Promise<number>
    /** Ends them all. Resolves with the visits of each slow one and each backfill. */
    end(): Promise<readonly (readonly SlowVisit[])[]>
  }>

/** Opens the subscribers. Resolves when the streams have begun. Needs `python3`, and no privilege. */
export async function openTroubledReaders(
  port: number,
  groups: readonly TroubledGroup[],
): Promise<TroubledReaders> {
  const words = groups.map(({ kind, address, count }) => `${kind}:${address}:${count}`)
  const program = join(import.meta.dirname, 'troubled-readers.py')
  const child = spawn('/usr/bin/python3', [program, String(port), ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const line = await lines.next()
    return line.done === true ? assert.fail('the subscribers ended early') : line.value
  }
  const all = groups.reduce((sum, { count }) => sum + count, 0)
  assert.equal(await next(), `open ${all}`)
  return {
    async cutLinks() {
      child.stdin.write('cut\n')
      return Number((await next()).replace('cut ', ''))
    },
    async end() {
      child.stdin.write('end\n')
      return JSON.parse(await next()) as (readonly SlowVisit[])[]
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** Connections of a port to some loopback addresses that the kernel still serves, and those with bytes unacknowledged. */
export function connectionsTo(
  port: number,
  prefix: string,
): Readonly<{ open: number; unacknowledged: number }> {
  const near = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local = '', remote = '', state]) => {
      return local.endsWith(near) && state === '01' && addressIn(remote).startsWith(prefix)
    })
  const unacknowledged = rows.filter(([, , , , queues = '']) => Number.parseInt(queues, 16) > 0).length
  return { open: rows.length, unacknowledged }
}

/** Address of a row such as `0100007F:1F90`, whose bytes are in reverse. */
function addressIn(text: string): string {
  const bytes = text.slice(0, 8).match(/../g) ?? []
  return bytes
    .toReversed()
    .map((byte) => Number.parseInt(byte, 16))
    .join('.')
}
