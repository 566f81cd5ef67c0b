import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { CONNECTIONS_MAX } from '../../serve/server.ts'
import { connectionLimit, FILES_RESERVED } from './connection-limit.ts'

suite('the connections of a thread', () => {
  test('are more than the streams if open files are unknown or plenty', () => {
    for (const openFiles of [null, 1_000_000]) {
      assert.deepEqual(connectionLimit(openFiles, 10, 1), { each: CONNECTIONS_MAX, wanted: CONNECTIONS_MAX })
      assert.equal(connectionLimit(openFiles, 50_000, 2).each, 52_000)
    }
  })

  test('leave a reserve of open files for any limit and any number of threads', () => {
    for (const openFiles of [16, 64, 256, 512, 1_024, 4_096, 16_384]) {
      for (const threads of [1, 2, 8]) {
        const { each } = connectionLimit(openFiles, 10_000, threads)
        assert.ok(each >= 1)
        const left = openFiles - each * threads
        assert.ok(left >= Math.min(FILES_RESERVED, openFiles / 2), `${openFiles} files, ${threads} threads`)
      }
    }
  })
})
