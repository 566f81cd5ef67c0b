import { spawnSync } from 'node:child_process'

/**
 * Skip option of a test that needs something of the machine: what is missing, or false. On CI nothing is skipped,
 * so that a test without what it needs fails there.
 */
export function skipUnless(isThere: boolean, needed: string): string | false {
  return isThere || process.env['CI'] === 'true' ? false : `this machine lacks ${needed}`
}

/** Skip option of a test that needs programs. */
export function skipWithout(...programs: readonly string[]): string | false {
  const missing = programs.filter((program) => pathOf(program) === undefined)
  return skipUnless(missing.length === 0, missing.join(', '))
}

/** Path of a program, also of one that only administrators have in their PATH. */
export function pathOf(program: string): string | undefined {
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }
  const { stdout } = spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', program], { encoding: 'utf8', env })
  return stdout.trim() === '' ? undefined : stdout.trim()
}
