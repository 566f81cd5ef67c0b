import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Command } from 'commander'
import { serveOptions } from '../operator/serve-program.ts'
import { shownSettings } from './shown-settings.ts'

suite('the options that a log line shows', () => {
  test('have the host of a database, and nothing of its user, its password or its query', () => {
    const command = serveOptions(new Command('serve'))
    command.parseOptions(['--log-store', 'postgres://mark:mark@db.example.org:6432/mark?password=mark'])
    const shown = shownSettings(command)
    assert.equal(shown['log-store'], 'postgres://db.example.org:6432')
    assert.doesNotMatch(JSON.stringify(shown), /mark/)
  })
})
