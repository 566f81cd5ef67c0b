import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { skipWithout } from '../stage/test-needs.ts'

const run = promisify(execFile)
const SERVICES = ['daybook.service', 'daybook-backup.service', 'daybook-outbox.service']
const paths = [...SERVICES, 'daybook-backup.timer'].map((name) => join(ROOT, 'ops', 'systemd', name))

suite('the units of systemd', { skip: skipWithout('systemd-analyze') }, () => {
  test('are valid', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', ...paths])
    assert.doesNotMatch(stdout + stderr, /daybook/)
  })

  test('expose no more than docs/operating.md says', async () => {
    const [, most = ''] = /exposure of at most\s+(\d\.\d)/.exec(textOf('docs/operating.md')) ?? []
    for (const path of paths.slice(0, SERVICES.length)) {
      // It ends with 1 beyond the threshold, which is in tenths.
      const words = ['--no-pager', 'security', '--offline=true', `--threshold=${Number(most) * 10}`, path]
      await run('systemd-analyze', words)
    }
  })
})
