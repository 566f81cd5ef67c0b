import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { storePath } from '../log/store.ts'
import { hasRoom, openStoreRoom, ROOM_PROBE_BYTES, ROOM_PROBE_FILE } from './store-room.ts'

suite('the room of a store', () => {
  test('is gone when a commit met a full disk, and back when the disk takes bytes again', () => {
    const changes: boolean[] = []
    const looks: (() => void)[] = []
    let disk: 'full' | 'broken' | 'free' = 'full'
    const room = openStoreRoom({
      probe() {
        if (disk === 'broken') throw new Error('no disk')
        return disk === 'free'
      },
      onChange: (has) => changes.push(has),
      every(look, signal) {
        looks.push(look)
        signal.addEventListener('abort', () => looks.pop())
      },
    })
    room.taken()
    assert.equal(room.has(), true)
    room.full()
    room.full()
    assert.equal(looks.length, 1, 'one probe at a time')
    for (const state of ['full', 'broken'] as const) {
      disk = state
      looks[0]?.()
      assert.equal(room.has(), false)
    }
    disk = 'free'
    looks[0]?.()
    assert.equal(room.has(), true)
    assert.deepEqual([looks.length, changes], [0, [false, true]])
  })

  test('is back at once when a commit is made', () => {
    const changes: boolean[] = []
    const room = openStoreRoom({
      probe: () => false,
      onChange: (has) => changes.push(has),
      every: () => undefined,
    })
    room.full()
    room.taken()
    assert.deepEqual([room.has(), changes], [true, [false, true]])
  })

  test('is measured beside the store, also against a limit on the size of a file, and leaves nothing behind', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-room-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const stored = 200_000
    writeFileSync(storePath(folder), Buffer.alloc(stored))
    assert.equal(hasRoom(folder), true)
    assert.equal(hasRoom(join(folder, 'missing')), false)
    const module = JSON.stringify(import.meta.resolve('./store-room.ts'))
    const script = `const { hasRoom } = await import(${module}); console.log(hasRoom(${JSON.stringify(folder)}))`
    for (const [bytes, has] of [
      [stored + ROOM_PROBE_BYTES, 'true'],
      [stored + ROOM_PROBE_BYTES - 1, 'false'],
    ] as const) {
      const limited = [`--fsize=${bytes}`, process.execPath, '--input-type=module', '-e', script]
      const { error, stdout } = spawnSync('prlimit', limited, { encoding: 'utf8' })
      if (error !== undefined) return t.skip('no limit can be set here')
      assert.equal(stdout.trim(), has, `${bytes} bytes`)
    }
    assert.equal(existsSync(join(folder, ROOM_PROBE_FILE)), false)
    return undefined
  })
})
