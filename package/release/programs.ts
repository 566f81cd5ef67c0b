import { execFileSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

type Place = Readonly<{ cwd: string; env?: NodeJS.ProcessEnv }>

/** Output of a program that succeeds. The error of one that fails has what the program said. */
export function outputOf(program: string, words: readonly string[], { cwd, env }: Place): string {
  try {
    return execFileSync(program, words, {
      cwd,
      env: env ?? process.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: OUTPUT_BYTES_MAX,
    })
  } catch (cause) {
    const { stdout = '', stderr = '' } = Object(cause)
    const said = `${stdout}${stderr}`.trim()
    throw new Error(`${program} ${words.slice(0, 2).join(' ')} failed: ${said}`, { cause })
  }
}

/** Environment of a build: the running Node first, the moment of the commit, and none of the caller's npm settings. */
export function buildEnvironment(epochSeconds: number): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))
  return {
    ...Object.fromEntries(own),
    ...nodeFirst(),
    LC_ALL: 'C',
    TZ: 'UTC',
    SOURCE_DATE_EPOCH: String(epochSeconds),
  }
}

/** `PATH` in which npm finds the running Node first. */
export function nodeFirst(): NodeJS.ProcessEnv {
  return { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
}
