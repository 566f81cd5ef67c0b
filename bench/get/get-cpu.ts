import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time for user programs in hundredths of a second, on every machine. */
const TICK_US = 10_000

/** Microseconds of processor time, user and system, of a process and its descendants. */
export function cpuMicroseconds(root: number): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat !== undefined)
  const family = new Set([root])
  // A child may be listed before its parent, so the search repeats until it finds no further process.
  for (let size = 0; size < family.size;) {
    size = family.size
    for (const { pid, parent } of stats) if (family.has(parent)) family.add(pid)
  }
  return stats.filter(({ pid }) => family.has(pid)).reduce((sum, { ticks }) => sum + ticks * TICK_US, 0)
}

type Stat = Readonly<{ pid: number; parent: number; ticks: number }>

/** Undefined for a process that has ended. */
function statOf(pid: string): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name is in brackets and may contain blanks, so the fields are read after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }
  } catch {
    return undefined
  }
}
