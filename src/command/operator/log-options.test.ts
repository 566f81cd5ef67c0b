import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { suite, test } from 'node:test'
import { makeLog, NEW_LOG, openFolder } from '../../../test/story/damaged-log.ts'
import { storePath } from '../../log/store/store.ts'
import { CommandError } from '../terminal/command-error.ts'
import { namesNoSite, newLogOf } from './log-options.ts'

const BALANCES = { balances: 'refuse' } as const

suite('a new log', () => {
  test('needs a name for ever, and nothing is made without it', () => {
    using folder = openFolder()
    const { data } = folder
    const unnamed = (): unknown => newLogOf({ data, ...BALANCES }, false)
    assert.throws(unnamed, (error) => error instanceof CommandError && /needs --origin/.test(error.message))
    assert.equal(existsSync(data), false)
  })

  test('has the name of `--origin`, also with `--development`', () => {
    using folder = openFolder()
    const named = { data: folder.data, ...BALANCES, origin: 'data.example.org/book' }
    assert.equal(newLogOf(named, false).origin, 'data.example.org/book')
    assert.equal(newLogOf({ ...named, development: true }, false).origin, 'data.example.org/book')
  })

  test('is named localhost/daybook with `--development`, and in the demonstration', () => {
    using folder = openFolder()
    const blank = { data: folder.data, ...BALANCES }
    assert.equal(newLogOf({ ...blank, development: true }, false).origin, 'localhost/daybook')
    assert.equal(newLogOf(blank, true).origin, 'simulated.localhost/daybook')
  })
})

suite('an existing log', () => {
  test('needs no name, and keeps its own with `--development`', () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    for (const given of [{}, { development: true as const }]) {
      assert.equal(newLogOf({ data: folder.data, ...BALANCES, ...given }, false).origin, NEW_LOG.origin)
    }
  })

  test('needs no name when its store is lost', () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    rmSync(storePath(folder.data))
    assert.doesNotThrow(() => newLogOf({ data: folder.data, ...BALANCES }, false))
  })
})

test('an origin names no site when it is that of a demonstration or of this machine', () => {
  const local = ['localhost', 'localhost/daybook', 'localhost:8080/book', 'simulated.data.example.org/book']
  assert.deepEqual(local.filter(namesNoSite), local)
  const named = ['data.example.org/book', 'localhost.example.org', 'localhosts/book', 'example.org/localhost']
  assert.deepEqual(named.filter(namesNoSite), [])
})
