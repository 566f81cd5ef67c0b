import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../sim/random.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { STORE_FILE, storePath } from '../../src/log/store/store.ts'
import { makeLog, openFolder } from '../story/damaged-log.ts'
import { assertSameStores, keptStoreOf, LONG_EVENTS, makeLongLog, upgrade } from './upgrade-stage.ts'

const CHILD = join(import.meta.dirname, 'upgrade-child.ts')
/** Kills at random instants. The long campaign is `DAYBOOK_CAMPAIGN=100`. */
const KILLS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 3)
const SEED = process.env['DAYBOOK_SEED'] ?? 'kill -9 during an upgrade'
/** Longest time from the beginning of an upgrade of the long log to its kill. */
const KILL_MS_MAX = 1_000

/** Upgrades in a child process, and kills it when it says the word, and after a time. */
async function kill(
  data: string,
  word: 'begun' | 'here',
  point: readonly string[],
  afterMs = 0,
): Promise<void> {
  const child = spawn(process.execPath, [CHILD, data, ...point], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== word) continue
    await sleep(afterMs)
    child.kill('SIGKILL')
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  if (word === 'here') assert.equal(child.signalCode, 'SIGKILL')
}

suite('an upgrade that is killed', () => {
  const folder = openFolder()
  const [long, short] = [join(folder.path, 'long'), join(folder.path, 'short')]
  test.before(() => {
    makeLongLog(long)
    makeLog(short, [100, 700])
  })
  test.after(() => folder[Symbol.dispose]())

  /** Copies the log, has its upgrade killed, and asserts that a store is whole and the next run finishes. */
  async function survives(before: string, killed: (data: string) => Promise<void>): Promise<boolean> {
    const data = join(folder.path, 'data')
    rmSync(data, { recursive: true, force: true })
    cpSync(before, data, { recursive: true })
    await killed(data)
    const isSwapped = existsSync(keptStoreOf(data, SCHEMA_VERSION)) && statOf(data) !== statOf(data, true)
    if (!isSwapped)
      assert.ok(readFileSync(storePath(data)).equals(readFileSync(storePath(before))), 'the old store')
    // A rebuild cannot tell that it is done, so the next run is only made when it is not.
    const report = isSwapped ? null : await upgrade(data)
    if (!isSwapped) assert.equal(report?.events, before === long ? LONG_EVENTS : 700)
    assertSameStores(storePath(data), storePath(before))
    assert.ok(
      readFileSync(keptStoreOf(data, SCHEMA_VERSION)).equals(readFileSync(storePath(before))),
      'it is kept',
    )
    const left = readdirSync(data).filter((name) => name.startsWith(STORE_FILE) && !/-(wal|shm)$/.test(name))
    if (!isSwapped) assert.deepEqual(left.toSorted(), [STORE_FILE, `${STORE_FILE}.schema-${SCHEMA_VERSION}`])
    return isSwapped
  }

  const statOf = (data: string, kept = false): number =>
    statSync(kept ? keptStoreOf(data, SCHEMA_VERSION) : storePath(data)).ino

  for (const point of [
    ['events', '9000'],
    ['refs', '0'],
    ['indexes', '0'],
    ['comparing', '0'],
    ['proving', '0'],
    ['linking', '0'],
    ['renaming', '0'],
  ] as const) {
    test(`at the point ${point.join(' ')} leaves the old store whole, and the next run finishes`, async () => {
      assert.equal(
        await survives(point[0] === 'events' ? long : short, (data) => kill(data, 'here', point)),
        false,
      )
    })
  }

  test(`at ${KILLS} random instants leaves the old store or the new one whole`, async (t) => {
    t.diagnostic(`seed: ${SEED}`)
    const random = randomOf(SEED)
    const swapped: boolean[] = []
    for (let kills = 0; kills < KILLS; kills += 1)
      swapped.push(await survives(long, (data) => kill(data, 'begun', [], random.below(KILL_MS_MAX))))
    t.diagnostic(`${swapped.filter(Boolean).length} of ${KILLS} had replaced the store`)
  })
})
