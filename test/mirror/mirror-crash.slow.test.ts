import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasStore } from '../../src/log/store/store.ts'
import { assertMirrors, openMirror, openOrigin } from './mirroring-stage.ts'

const CHILD = join(import.meta.dirname, 'mirror-child.ts')
const EVENTS = 4_000
const MONTHS = { archiveEventsMin: 500 }
/** Random points at which a mirror is killed while it follows. */
const KILLS = 2

/** Runs a mirror in a child process, and kills it `afterMs` after it has written the line. */
async function killAt(words: readonly string[], line: string, afterMs = 0): Promise<void> {
  const child = spawn(process.execPath, [CHILD, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  for await (const said of createInterface({ input: child.stdout })) {
    if (said !== line) continue
    await sleep(afterMs)
    child.kill('SIGKILL')
  }
  await closed
  assert.equal(child.signalCode, 'SIGKILL')
}

/** Bytes of a disk on which a build does not end. */
const SMALL_BYTES = 1_500_000
/** Bytes that are left to a mirror that follows. */
const LEFT_BYTES = 1_000_000
/** Events that take more. */
const FULL_EVENTS = 4_000

/** Mounts a small disk. Returns false when this machine does not allow that. */
function mountDisk(folder: string, bytes: number): boolean {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function resizeDisk(folder: string, bytes: number): void {
  execFileSync('mount', ['-o', `remount,size=${bytes}`, folder])
}

suite('a mirror', () => {
  let origin: Awaited<ReturnType<typeof openOrigin>>
  before(async () => {
    origin = await openOrigin(EVENTS)
  })
  after(() => origin[Symbol.asyncDispose]())

  for (const [stage, done, resumed] of [
    ['months', 1, true],
    ['months', 3_000, true],
    ['indexes', 0, true],
    ['proving', 0, true],
  ] as const) {
    test(`that is killed at its build, ${stage} from ${done} events on, has no store, and the next build continues`, async () => {
      await using mirror = openMirror(origin.url, MONTHS)
      await killAt([origin.url(), mirror.data, stage, String(done)], 'here')
      assert.equal(hasStore(mirror.data), false)
      assert.deepEqual(await mirror.build(), { is: 'ready', events: EVENTS, resumed })
      assertMirrors(mirror.data, origin.data)
    })
  }

  test('on a full disk has no store or serves on, says so, and goes on when there is room', async (t) => {
    await using mirror = openMirror(origin.url)
    if (!mountDisk(mirror.data, SMALL_BYTES)) return t.diagnostic('not run: this machine mounts no disk')
    try {
      await assert.rejects(mirror.build(), /the disk is full: make room and start again, which continues/)
      assert.equal(hasStore(mirror.data), false)
      resizeDisk(mirror.data, 100 * SMALL_BYTES)
      await mirror.follow()
      const { blocks, bavail, bsize } = statfsSync(mirror.data)
      resizeDisk(mirror.data, (blocks - bavail) * bsize + LEFT_BYTES)
      const head = mirror.head()
      await origin.trade(FULL_EVENTS)
      const full = await mirror.until(({ waits }) => waits === 'disk')
      assert.deepEqual([mirror.head(), full.contradicted], [head, null])
      resizeDisk(mirror.data, 100 * SMALL_BYTES)
      await mirror.until(({ waits }) => waits === null)
      assert.equal(mirror.head(), head + FULL_EVENTS)
      await mirror.stop()
      assertMirrors(mirror.data, origin.data)
    } finally {
      await mirror.stop()
      execFileSync('umount', [mirror.data])
    }
    return undefined
  })

  test('that is killed while it follows, at any instant, goes on with what it had shown', async () => {
    await using mirror = openMirror(origin.url, MONTHS)
    for (let kill = 0; kill < KILLS; kill += 1) {
      const killed = killAt([origin.url(), mirror.data], 'committed', Math.random() * 60)
      for (let ended = false; !ended;) {
        await origin.trade(50)
        ended = await Promise.race([killed.then(() => true), sleep(20).then(() => false)])
      }
    }
    await mirror.follow()
    await mirror.until(({ waits, behindEvents }) => waits === null && behindEvents === 0)
    await mirror.stop()
    assertMirrors(mirror.data, origin.data)
  })
})
