import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readdirSync, readlinkSync } from 'node:fs'

/** Makes the descriptor by which this process has `from` open one of `to`. Descriptors have the lowest free number. */
export function redirect(from: string, to: string): void {
  // The descriptor that lists the folder is closed by then.
  const isOpen = (fd: string): boolean => existsSync(`/proc/self/fd/${fd}`)
  const wanted = readdirSync('/proc/self/fd').find(
    (fd) => isOpen(fd) && readlinkSync(`/proc/self/fd/${fd}`) === from,
  )
  assert.ok(wanted !== undefined, `${from} is open`)
  closeSync(Number(wanted))
  const lower: number[] = []
  let fd = openSync(to, 'r+')
  for (; fd !== Number(wanted); fd = openSync(to, 'r+')) lower.push(fd)
  for (const one of lower) closeSync(one)
}
