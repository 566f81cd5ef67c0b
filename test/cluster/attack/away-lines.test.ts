import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { openClusterTelling } from '../../../src/cluster/log/cluster-telling.ts'
import { openMainLines } from '../../../src/command/log-lines/log-lines.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { manualWorld } from '../../stage/manual-node.ts'

suite('log lines about a table that cannot be used', () => {
  test('have each reason, which is repeated after a minute at the earliest', () => {
    let nowMs = 0
    let said = ''
    const stderr = new PassThrough().on('data', (bytes: Buffer) => (said += bytes.toString()))
    const lines = openMainLines({ ...manualWorld(() => msOf(0)), stderr })
    const { told } = openClusterTelling({
      registry: new Registry(),
      lines,
      monotonicMs: () => nowMs,
      show: () => undefined,
    })
    const away = (reason: string): void => told({ is: 'notice', notice: { is: 'away', reason } })
    const reasons = (): readonly string[] => {
      const found = said.split('\n').flatMap((line) => /cannot be used: (one|other)/.exec(line)?.[1] ?? [])
      said = ''
      return found
    }
    away('one')
    away('other')
    away('one')
    assert.deepEqual(reasons(), ['one', 'other'])
    nowMs = 59_999
    away('other')
    assert.deepEqual(reasons(), [])
    nowMs = 60_000
    away('other')
    assert.deepEqual(reasons(), ['other'])
  })
})
