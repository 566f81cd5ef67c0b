import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Command, InvalidArgumentError } from 'commander'
import { everyCommand, programOf, run } from '../../../test/stage/command-stage.ts'
import { daybook } from '../../../test/stage/service.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { kindWord, settleSwitches, wholeBetween } from './options.ts'

/** Words of a command line that select the command. */
function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()]
}

/** Options that may be empty: an empty list is valid, and an empty key is refused where keys are parsed. */
const LISTS = ['--explorer', '--trust-proxy', '--key']

suite('an option', () => {
  test('with a value is refused when the value is empty, in every command', async () => {
    const program = await programOf({}, () => undefined)
    let options = 0
    for (const command of everyCommand(program)) {
      for (const { long, required } of command.options) {
        if (!required || long === undefined || LISTS.includes(long)) continue
        options += 1
        const words = [...wordsOf(command), long, '']
        const { code, stderr } = await run(words)
        assert.equal(code, 2, words.join(' '))
        assert.match(stderr, new RegExp(`${long} <[a-z=]+>' argument '' is invalid`), words.join(' '))
      }
    }
    assert.ok(options > 100, 'the options are there')
  })

  test('of a seq accepts every valid seq', () => {
    const seq = wholeBetween(0, SEQ_MAX)
    assert.equal(seq(String(SEQ_MAX)), SEQ_MAX)
    for (const text of [String(SEQ_MAX + 1), '99999999999999999999', '-1', '1e3', '1.0', '٣', ' 1']) {
      assert.throws(() => seq(text), InvalidArgumentError, text)
    }
  })

  test('of a kind refuses words that no event can have', async () => {
    assert.equal(kindWord('voter_share'), 'voter_share')
    for (const text of ['WINNER', 'two words', '_a', 'ü', 'a'.repeat(33)]) {
      assert.throws(() => kindWord(text), InvalidArgumentError, text)
    }
    const { code, stderr } = await run(['tail', 'http://127.0.0.1:9', '--kind', 'WINNER'])
    assert.equal(code, 2)
    assert.match(stderr, /a kind has up to 32 lower-case letters/)
  })
})

suite('the variable of an option without a value', async () => {
  const program = await programOf({}, () => undefined)
  test('is on with true, 1, yes and on, and off with false, 0, no, off and nothing', () => {
    for (const value of ['true', '1', 'yes', 'on', 'TRUE']) {
      const environment = { DAYBOOK_UPGRADE: value }
      settleSwitches(program, environment)
      assert.deepEqual(environment, { DAYBOOK_UPGRADE: value })
    }
    for (const value of ['false', '0', 'no', 'off', '', 'False']) {
      const environment = { DAYBOOK_UPGRADE: value, DAYBOOK_DATA: '' }
      settleSwitches(program, environment)
      assert.deepEqual(environment, { DAYBOOK_DATA: '' })
    }
  })

  test('is refused with any other value', () => {
    assert.throws(() => settleSwitches(program, { DAYBOOK_DEVELOPMENT: 'perhaps' }), {
      message: 'DAYBOOK_DEVELOPMENT: give true or false',
    })
  })

  test('makes no log for development when it is false', async () => {
    process.env['DAYBOOK_DEVELOPMENT'] = 'false'
    try {
      const { code, stderr } = await daybook('serve', '--data', '/nonexistent/log')
      assert.equal(code, 2)
      assert.match(stderr, /a new log needs --origin/)
    } finally {
      delete process.env['DAYBOOK_DEVELOPMENT']
    }
  })
})
