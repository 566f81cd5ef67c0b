import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { STORE_FILE, storePath } from '../../src/log/store/store.ts'
import { makeLog, openFolder } from '../story/damaged-log.ts'
import { assertSameStores, keptStoreOf, LONG_EVENTS, makeLongLog, upgrade } from './upgrade-stage.ts'

const CHILD = join(import.meta.dirname, 'upgrade-child.ts')
/** Upgrades in a child process, and kills it at a point. */
async function killUpgrade(data: string, point: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [CHILD, data, ...point], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout }))
    if (line === 'here') child.kill('SIGKILL')
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL')
}

suite('an upgrade that is killed', () => {
  const folder = openFolder()
  const [long, short] = [join(folder.path, 'long'), join(folder.path, 'short')]
  test.before(() => {
    makeLongLog(long)
    makeLog(short, [100, 700])
  })
  test.after(() => folder[Symbol.dispose]())

  /** Copies the log, has its upgrade killed, and asserts that the old store is whole and the next run finishes. */
  async function survives(before: string, point: readonly string[]): Promise<void> {
    const data = join(folder.path, 'data')
    rmSync(data, { recursive: true, force: true })
    cpSync(before, data, { recursive: true })
    await killUpgrade(data, point)
    assert.ok(readFileSync(storePath(data)).equals(readFileSync(storePath(before))), 'the old store')
    const report = await upgrade(data)
    assert.equal(report?.events, before === long ? LONG_EVENTS : 700)
    assertSameStores(storePath(data), storePath(before))
    assert.ok(
      readFileSync(keptStoreOf(data, SCHEMA_VERSION)).equals(readFileSync(storePath(before))),
      'it is kept',
    )
    const left = readdirSync(data).filter((name) => name.startsWith(STORE_FILE) && !/-(wal|shm)$/.test(name))
    assert.deepEqual(left.toSorted(), [STORE_FILE, `${STORE_FILE}.schema-${SCHEMA_VERSION}`])
  }

  for (const point of [
    ['events', '9000'],
    ['indexes', '0'],
    ['comparing', '0'],
    ['proving', '0'],
    ['linking', '0'],
    ['renaming', '0'],
  ] as const) {
    test(`at the point ${point.join(' ')} leaves the old store whole, and the next run finishes`, async () => {
      await survives(point[0] === 'events' ? long : short, point)
    })
  }
})
