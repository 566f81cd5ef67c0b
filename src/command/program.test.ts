import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { programOf, run } from '../../test/stage/command-stage.ts'
import { OPTIONS } from '../plugged-options.ts'
import { COMMAND_GROUPS } from './plug/option.ts'

const whole = await programOf({}, () => undefined)

suite('a command line', () => {
  test('loads the command that it names, and no other', async () => {
    for (const command of whole.commands) {
      const { commands } = await programOf({}, () => undefined, [command.name()])
      assert.deepEqual(
        commands.map((one) => one.helpInformation()),
        [command.helpInformation()],
      )
    }
  })

  test('loads every command for the help, and to suggest one for a mistake', async () => {
    const { stdout } = await run(['--help'])
    assert.match(stdout, /\nTo try it: daybook demo .*\n$/)
    for (const command of whole.commands) assert.ok(stdout.includes(`\n  ${command.name()} `), command.name())
    const { code, stderr } = await run(['kegen'])
    assert.equal(code, 2)
    assert.match(stderr, /Did you mean keygen\?/)
  })

  test('groups the commands in the help by those who use them', async () => {
    const { stdout } = await run(['--help'])
    const [, , , ...groups] = stdout.split(/^(?=\S.*:$)/m)
    const headings = groups.map((group) => group.split('\n')[0])
    assert.deepEqual(headings, [...Object.values(COMMAND_GROUPS), 'For everyone:'])
    const named = groups.map((group) => group.match(/(?<=^ {2})[a-z]+/gm) ?? [])
    assert.deepEqual(named.at(-1), ['help'])
    assert.equal(named.flat().length, whole.commands.length + 1, 'each command is in one group')
  })

  test('has the commands of an option in the group that the option names', () => {
    for (const { group, name } of OPTIONS.flatMap((option) => option.commands ?? [])) {
      const command = whole.commands.find((one) => one.name() === name)
      assert.equal(command?.helpGroup(), COMMAND_GROUPS[group])
    }
  })

  test('ends each help with the words that start a command in a clone', async () => {
    for (const words of [['--help'], ['verify', '--help'], ['get', 'summary', '--help']]) {
      const { stdout } = await run(words, { program: 'npm run -s daybook --' })
      assert.match(
        stdout,
        /\n\nHere, write `npm run -s daybook --` in place of `daybook`\.\n$/,
        words.join(' '),
      )
    }
  })
})
