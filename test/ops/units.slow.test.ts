import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf, textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { openFolder } from '../story/damaged-log.ts'

const run = promisify(execFile)
const SERVICES = [
  'daybook.service',
  'daybook-backup.service',
  'daybook-outbox.service',
  'daybook-witness.service',
]
const paths = [...SERVICES, 'daybook-backup.timer'].map((name) => join(ROOT, 'ops', 'systemd', name))

suite('the units of systemd', { skip: skipWithout('systemd-analyze') }, () => {
  test('are valid', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', ...paths])
    assert.doesNotMatch(stdout + stderr, /daybook/)
  })

  test('are valid with an option for one start, as docs/operating.md gives it', async () => {
    using folder = openFolder()
    cpSync(join(ROOT, 'ops', 'systemd'), folder.path, { recursive: true })
    const block = blocksOf(textOf('docs/operating.md')).find(({ before }) => before === '<!-- run: once -->')
    const told = block?.text.split('systemctl daemon-reload')[0] ?? ''
    await run('sh', ['-c', told.replaceAll('/run/systemd/system', folder.path)])
    const { stdout, stderr } = await run('systemd-analyze', ['verify', join(folder.path, 'daybook.service')])
    assert.doesNotMatch(stdout + stderr, /daybook/)
    const shown = readFileSync(join(folder.path, 'daybook.service.d', 'once.conf'), 'utf8')
    assert.match(shown, /^ExecStart=\n.* daybook serve --accept-clock$/m)
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
