import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { everyCommand, programOf, run } from '../../../test/stage/command-stage.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { kindWord, wholeBetween } from './options.ts'

/** The words that lead to a command. */
function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()]
}

/** Of these there may be none, and an empty value says so; a key is refused where keys are read. */
const LISTS = ['--explorer', '--trust-proxy', '--key']

suite('an option', () => {
  test('that takes a value is refused when it is empty, of every command', async () => {
    const program = programOf({}, () => undefined)
    let options = 0
    for (const command of everyCommand(program)) {
      for (const { long, required } of command.options) {
        if (!required || long === undefined || LISTS.includes(long)) continue
        options += 1
        const words = [...wordsOf(command), long, '']
        const { code, stderr } = await run(words)
        assert.equal(code, 2, words.join(' '))
        assert.match(stderr, new RegExp(`${long} <[a-z]+>' argument '' is invalid`), words.join(' '))
      }
    }
    assert.ok(options > 100, 'the options are there')
  })

  test('of a seq takes every one that there can be', () => {
    const seq = wholeBetween(0, SEQ_MAX)
    assert.equal(seq(String(SEQ_MAX)), SEQ_MAX)
    for (const text of [String(SEQ_MAX + 1), '99999999999999999999', '-1', '1e3', '1.0', '٣', ' 1']) {
      assert.throws(() => seq(text), InvalidArgumentError, text)
    }
  })

  test('of a kind is no word that no event can have', async () => {
    assert.equal(kindWord('voter_share'), 'voter_share')
    for (const text of ['WINNER', 'two words', '_a', 'ü', 'a'.repeat(33)]) {
      assert.throws(() => kindWord(text), InvalidArgumentError, text)
    }
    const { code, stderr } = await run(['tail', 'http://127.0.0.1:9', '--kind', 'WINNER'])
    assert.equal(code, 2)
    assert.match(stderr, /a kind has up to 32 lower-case letters/)
  })
})
