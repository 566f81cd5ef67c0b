import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { programOf } from '../../../test/stage/command-stage.ts'
import { daybook } from '../../../test/stage/service.ts'
import { settleSwitches } from './options.ts'

const program = await programOf({}, () => undefined)

suite('the variable of an option without a value', () => {
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
