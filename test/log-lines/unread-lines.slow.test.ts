import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from '../stage/places.ts'

const STOP_MS_MAX = 15_000

/** Opens a pipe that is full, and that nobody reads. */
function openFullPipe(path: string): number {
  execFileSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  try {
    for (;;) writeSync(pipe, 'x'.repeat(512))
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && error.code === 'EAGAIN')
  }
  return pipe
}

suite('a service whose lines nobody reads', () => {
  test('starts, and stops by a signal with code 0', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-unread-'))
    const data = join(folder, 'log')
    const pipe = openFullPipe(join(folder, 'pipe'))
    const words = [
      'serve',
      '--data',
      data,
      '--development',
      '--port',
      '0',
      '--publish-port',
      '0',
      '--drain',
      '0',
    ]
    const service = spawn(process.execPath, [join(ROOT, 'src', 'main.ts'), ...words], {
      stdio: ['ignore', 'ignore', pipe],
    })
    try {
      while (!existsSync(join(data, 'high-water'))) await sleep(50)
      service.kill('SIGTERM')
      const late = setTimeout(() => service.kill('SIGKILL'), STOP_MS_MAX)
      const ended = await once(service, 'exit')
      clearTimeout(late)
      assert.deepEqual(ended, [0, null])
    } finally {
      service.kill('SIGKILL')
      closeSync(pipe)
      rmSync(folder, { recursive: true })
    }
  })
})
