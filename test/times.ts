import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { useTemporaryFolder } from './processes/temporary-folder.ts'
import { ROOT } from './stage/places.ts'

/**
 * `npm run test:times`: runs test files one at a time, each in its own process, and prints the processor time and the time
 * by the clock of each in seconds, largest first. Arguments are globs of files; without any, all run.
 */
const given = process.argv.slice(2)
const globs = given.length > 0 ? given : ['{sim,src,test}/**/*.test.ts']

useTemporaryFolder()
const rows = globSync(globs, { cwd: ROOT })
  .toSorted()
  .map((file) => {
    const began = performance.now()
    const command = '"$0" "$1" >&2; code=$?; times; exit $code'
    const { status, stdout } = spawnSync('/bin/sh', ['-c', command, process.execPath, file], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const clock = (performance.now() - began) / 1_000
    return { file, clock, processor: sumOfTimes(stdout), outcome: status === 0 ? '' : ' failed' }
  })
const shown = (seconds: number): string => seconds.toFixed(1).padStart(8)
for (const { file, processor, clock, outcome } of rows.toSorted((a, b) => b.processor - a.processor))
  process.stdout.write(`${shown(processor)}${shown(clock)}  ${file}${outcome}\n`)
const sum = rows.reduce((total, { processor }) => total + processor, 0)
process.stdout.write(`${shown(sum)} of processor time in ${rows.length} files\n`)

/** Sum of what the shell's `times` prints: user and system time of the shell, and of all that it waited for. */
function sumOfTimes(text: string): number {
  const times = [...text.matchAll(/(\d+)m([\d.]+)s/g)]
  return times.reduce((all, [, minutes, seconds]) => all + 60 * Number(minutes) + Number(seconds), 0)
}
