import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Command } from 'commander'
import { SERVE_ON_TABLE } from '../../../src/cluster/command/table-options.ts'
import { shownSettings } from '../../../src/command/log-lines/start-lines.ts'
import { serveOptions } from '../../../src/command/operator/serve-command.ts'

suite('the options that a log line shows', () => {
  test('have nothing of the address of a database', () => {
    const command = SERVE_ON_TABLE.add(serveOptions(new Command('serve')))
    command.parseOptions(['--log-store', 'postgres://mark:mark@db.example.org:6432/mark?password=mark'])
    const shown = shownSettings(command)
    assert.equal(shown['log-store'], 'given')
    assert.doesNotMatch(JSON.stringify(shown), /mark/)
  })
})
