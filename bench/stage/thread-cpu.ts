import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds of processor time of a process's main thread, and of its other threads. Linux only. */
type ThreadCpu = Readonly<{ main: number; others: number }>

const NS_PER_MS = 1e6

export function threadCpu(pid: number): ThreadCpu {
  const tasks = `/proc/${pid}/task`
  let main = 0
  let others = 0
  for (const task of readdirSync(tasks)) {
    const ms = runMs(`${tasks}/${task}/schedstat`)
    if (task === String(pid)) main += ms
    else others += ms
  }
  return { main, others }
}

/** The first number is the processor time. A thread that has ended has none. */
function runMs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / NS_PER_MS
  } catch {
    return 0
  }
}
