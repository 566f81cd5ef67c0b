import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { commandWith } from '../../stage/command-stage.ts'
import { SERVE_ON_TABLE } from '../../../src/cluster/command/table-options.ts'
import { shownSettings } from '../../../src/command/log-lines/start-lines.ts'
import { SERVE_OPTIONS } from '../../../src/command/operator/serve-command.ts'

suite('the options that a log line shows', () => {
  test('have nothing of the address of a database', () => {
    const command = commandWith([...SERVE_OPTIONS, ...SERVE_ON_TABLE.options])
    command.parseOptions(['--log-store', 'postgres://mark:mark@db.example.org:6432/mark?password=mark'])
    const shown = shownSettings(command)
    assert.equal(shown['log-store'], 'given')
    assert.doesNotMatch(JSON.stringify(shown), /mark/)
  })
})
