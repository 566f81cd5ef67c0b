import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { spawnTied } from '../processes/other-program.ts'
import { MAIN } from './places.ts'

/** Time limit for a start, on a busy machine. */
const START_MS_MAX = 60_000
/** Time limit for a command that ends by itself. */
const RUN_MS_MAX = 300_000
/** Time limit for an end after a signal. */
const END_MS_MAX = 60_000
/** Characters of the output that are kept, the newest of them. */
const SAID_CHARACTERS_MAX = 1_000_000

const PUBLIC = /listening on (http:\/\/127\.0\.0\.1:\d+)/
const PUBLISHING = /publish API on (http:\/\/127\.0\.0\.1:\d+)/

export type Ended = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>

/** Daybook's program in a child process. It ends with this process. */
export type StartedDaybook = Readonly<{
  child: ChildProcess
  /** Standard output so far. */
  stdout(): string
  /** Standard error so far. */
  stderr(): string
  /** Waits until the pattern is in the output. Kills a process that is late, and throws with its output if it ends before. */
  says(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>
  /** Waits until a service serves. Returns the base URLs of its public and its private listener. */
  addresses(): Promise<Readonly<{ url: string; publishUrl: string }>>
  /** Waits for the end and for the whole output. Kills a process that is late. */
  ended(): Promise<Ended>
  /** Sends a signal, and SIGKILL to a process that is late, and waits for the end. A paused process goes on first. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ended>
}>

/** Environment of this process without variables that are options of Daybook. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DAYBOOK_')))
}

/**
 * Starts the program with the words of a command line. `before` is a command that runs it, such as one that sets a limit.
 */
export function startDaybook(
  words: readonly string[],
  options: Readonly<{
    before?: readonly string[]
    env?: NodeJS.ProcessEnv
    cwd?: string | undefined
    /** Is told each part of standard error, such as to keep what several processes say, one after another. */
    onStderr?: (text: string) => void
  }> = {},
): StartedDaybook {
  const { before = [], env = plainEnvironment(), cwd, onStderr } = options
  const [program = '', ...rest] = [...before, process.execPath, MAIN, ...words]
  const child = spawnTied(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd })
  let isClosed = false
  const closed = once(child, 'close').then(() => void (isClosed = true))
  let [stdout, stderr] = ['', '']
  let told = Promise.withResolvers<void>()
  const tell = (): void => {
    told.resolve()
    told = Promise.withResolvers()
  }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout = kept(stdout + text)
    tell()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = kept(stderr + text)
    onStderr?.(text)
    tell()
  })
  const inTime = async <Value>(limitMs: number, wait: Promise<Value>): Promise<Value> => {
    const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
    try {
      return await wait
    } finally {
      clearTimeout(late)
    }
  }
  const ended = async (limitMs: number): Promise<Ended> => {
    await inTime(limitMs, closed)
    return { code: child.exitCode, signal: child.signalCode }
  }
  const heard = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(stderr) ?? pattern.exec(stdout)
      if (found !== null) return found
      if (isClosed) break
      await Promise.race([told.promise, closed])
    }
    throw new Error(`the program ended without ${pattern}:\n${stdout}${stderr}`)
  }
  const says: StartedDaybook['says'] = (pattern, limitMs = START_MS_MAX) => inTime(limitMs, heard(pattern))
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    says,
    async addresses() {
      const [[, url = ''], [, publishUrl = '']] = await Promise.all([says(PUBLIC), says(PUBLISHING)])
      return { url, publishUrl }
    },
    ended: () => ended(RUN_MS_MAX),
    async end(signal) {
      // A paused process takes no other signal but SIGKILL.
      child.kill('SIGCONT')
      child.kill(signal)
      return ended(END_MS_MAX)
    },
  }
}

const kept = (text: string): string => text.slice(-SAID_CHARACTERS_MAX)
