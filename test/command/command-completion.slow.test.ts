import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { skipWithout } from '../processes/test-needs.ts'
import { everyCommand, programOf, run } from '../stage/command-stage.ts'

const program = await programOf({}, () => undefined)
const { stdout: bash } = await run(['completion', 'bash'])

/** Completions that one bash offers for the last word of each line of words. */
function offeredTo(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const asked = lines.map((words) => {
    const list = words.map((word) => `'${word}'`).join(' ')
    return `COMPREPLY=(); COMP_WORDS=(daybook ${list}); COMP_CWORD=${words.length}; _daybook; printf '%s ' "\${COMPREPLY[@]}"; echo`
  })
  const said = execFileSync('bash', ['-c', [bash, ...asked].join('\n')], { encoding: 'utf8' })
  return said
    .split('\n')
    .slice(0, lines.length)
    .map((line) => line.split(' ').filter((word) => word !== ''))
}

function offered(...words: readonly string[]): readonly string[] {
  return offeredTo([words]).flat()
}

suite('completion in bash', () => {
  test('offers every command, and every option of each', () => {
    assert.deepEqual(
      offered('').toSorted(),
      [...program.commands.map((command) => command.name()), 'help'].toSorted(),
    )
    const commands = everyCommand(program)
    const paths = commands.map((command) => {
      const path: string[] = []
      for (let at = command; at.parent !== null; at = at.parent) path.unshift(at.name())
      return path
    })
    const found = offeredTo(paths.map((path) => [...path, '--']))
    assert.equal(found.length, commands.length)
    for (const [index, { options }] of commands.entries()) {
      const flags = options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '')
      for (const flag of flags) assert.ok(found[index]?.includes(flag), `${paths[index]?.join(' ')} ${flag}`)
    }
  })

  test('offers the words that begin with the typed letters', () => {
    assert.deepEqual(offered('ta'), ['tail'])
    assert.deepEqual(offered('get', 'contest-'), ['contest-ledger'])
    assert.deepEqual(offered('tail', 'http://127.0.0.1:8080', '--no-'), ['--no-follow'])
  })

  test('offers the choices of an option, and nothing where an option takes any value', () => {
    assert.deepEqual(offered('tail', 'url', '--format', ''), ['table', 'jsonl', 'csv'])
    assert.deepEqual(offered('get', 'flows', 'url', '--bucket', 'd'), ['day'])
    assert.deepEqual(offered('tail', 'url', '--after', ''), [])
  })
})

suite('completion in other shells', () => {
  for (const shell of ['zsh', 'fish'] as const) {
    test(`is valid ${shell}`, { skip: skipWithout(shell) }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'daybook-completion-'))
      try {
        const file = join(folder, `daybook.${shell}`)
        await writeFile(file, (await run(['completion', shell])).stdout)
        const read = spawnSync(shell, shell === 'fish' ? ['--no-execute', file] : ['-n', file], {
          encoding: 'utf8',
        })
        assert.deepEqual([read.status, read.stderr], [0, ''])
      } finally {
        await rm(folder, { recursive: true })
      }
    })

    test(`names every option for ${shell}`, async () => {
      const { stdout } = await run(['completion', shell])
      for (const command of everyCommand(program)) {
        for (const { long = '' } of command.options) {
          const flag = shell === 'fish' ? `-l ${long.slice(2)} ` : `'${long}:`
          assert.ok(stdout.includes(flag), `${command.name()} ${long}`)
        }
      }
    })
  }
})

test('an unknown shell is refused with a list of the known ones', async () => {
  const { code, stderr } = await run(['completion', 'tcsh'])
  assert.equal(code, 2)
  assert.match(stderr, /Allowed choices are bash, zsh, fish/)
})
