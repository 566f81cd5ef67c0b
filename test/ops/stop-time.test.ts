import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SERVE_OPTIONS } from '../../src/command/operator/serve-command.ts'
import { STOP_HEADROOM_MS } from '../../src/command/operator/node-ending.ts'
import { WITNESS_DRAIN_MS } from '../../src/witness/cosigner/witness-listener.ts'
import { textOf } from '../stage/document.ts'

/** Drain of `serve` by default. */
const drainMs = Number(SERVE_OPTIONS.find(({ long }) => long === '--drain')?.defaultValue) * 1_000

suite('the time that a stop gets before the process is killed', () => {
  for (const [path, form, endMs] of [
    ['ops/systemd/daybook.service', /^TimeoutStopSec=(\d+)$/gm, drainMs],
    ['ops/systemd/daybook-witness.service', /^TimeoutStopSec=(\d+)$/gm, WITNESS_DRAIN_MS],
    ['compose.yaml', /^ +stop_grace_period: (\d+)s$/gm, drainMs],
    ['docs/container.md', /--stop-timeout (\d+)\b/g, drainMs],
  ] as const) {
    test(`is longer in ${path} than a stop takes`, () => {
      const given = [...textOf(path).matchAll(form)].map(([, seconds]) => Number(seconds))
      assert.ok(given.length > 0 && endMs > 0)
      for (const seconds of given) assert.ok(seconds * 1000 > endMs + STOP_HEADROOM_MS, `${seconds} s`)
    })
  }

  test('is as long beyond the drain as docs/operating.md and docs/container.md say', () => {
    const seconds = STOP_HEADROOM_MS / 1000
    assert.match(textOf('docs/operating.md'), new RegExp(`\\b${seconds} s after the drain`))
    assert.match(textOf('docs/container.md'), new RegExp(`\\[${seconds} seconds more\\]`))
  })
})
