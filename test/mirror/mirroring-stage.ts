import { formatVkey } from '../../src/tlog/note.ts'
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { bulkLines } from '../../sim/bulk.ts'
import type { Service } from '../../src/command/service/service.ts'
import { storePath } from '../../src/log/store/store.ts'
import { type SigningKey, verifierKeyOf } from '../../src/log/tree/signer.ts'
import { buildMirror, type MirrorBuildListeners, type MirrorBuilt } from '../../src/mirror/build-mirror.ts'
import type { MirrorProgress, MirrorSettings } from '../../src/mirror/mirror-settings.ts'
import type { MirrorState } from '../../src/mirror/mirror-watch.ts'
import { type Mirroring, type MirrorListeners, openMirroring } from '../../src/mirror/mirroring.ts'
import type { Contradicted } from '../../src/mirror/proof/contradiction.ts'
import { SURROUNDINGS } from '../../src/client/surroundings.ts'
import { DAY_MS, type Ms, msOf } from '../../src/protocol/moment.ts'
import { openSharedClock, type SharedClock } from '../../src/publish/writer/shared-clock.ts'
import { importFiles } from '../../src/publish/import/import.ts'
import { settingsOf } from '../stage/import-stage.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { TEST_KEY } from '../story/signing.ts'
import { openHeadCell } from '../../src/log/head-cell.ts'

/** Speed of the waits of a mirror in tests, as a multiple of real time. */
const SPEED = 40
const DEADLINE_MS = 60_000

export const NEW_LOG = { origin: 'daybook.example/log', chain: 'solana', simulated: false } as const
/** The verifier key of a key for the log of these tests. */
export function vkeyOf({ publicKey }: SigningKey): string {
  return formatVkey(verifierKeyOf(NEW_LOG.origin, publicKey))
}

/** Moment of the origin's clock after its history. */
const PRESENT: Ms = msOf(Date.UTC(2026, 5, 1))

/** A followed service in this process, with a clock that moves a minute with each publication. */
type OriginStage = AsyncDisposable &
  Readonly<{
    data: string
    url(): string
    /** Publishes trades in one commit. Their refs must be new. */
    trade(count: number): Promise<void>
    publish(drafts: readonly object[]): Promise<void>
    clock: SharedClock
    /** The moment so many days after the present one. */
    later(days: number): Ms
    /** Verifier key of the newest signing key. */
    vkey(): string
    /** Starts the service again, with other keys if they are given. */
    restart(keys?: readonly SigningKey[], signing?: object): Promise<void>
    stop(): Promise<void>
  }>

/** Imports a history of `count` events over three months into a directory. */
export async function makeHistory(data: string, count: number): Promise<void> {
  const span = { from: msOf(Date.UTC(2026, 2, 20)), to: PRESENT }
  const file = `${data}.jsonl`
  writeFileSync(file, [...bulkLines({ seed: 'mirror', ...span, count })].join('\n'))
  const outcome = await importFiles({ ...settingsOf([file], data), newLog: NEW_LOG, now: PRESENT })
  assert.ok(outcome.ok)
}

/** Opens an origin with a history of so many events, or with a copy of a directory that nobody writes. */
export async function openOrigin(
  history: number | string,
  settings: object = {},
  keys: readonly SigningKey[] = [TEST_KEY],
): Promise<OriginStage> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-origin-'))
  const data = join(folder, 'data')
  if (typeof history === 'string') cpSync(history, data, { recursive: true })
  else if (history > 0) await makeHistory(data, history)
  const clock = openSharedClock()
  clock.set(PRESENT)
  let published = 0
  let service: Service | null = null
  let present = keys
  const begin = async (signing: object): Promise<void> => {
    const port = service === null ? 0 : service.port
    service = await startLocalNode(data, NEW_LOG, present, clock, {
      settings: {
        port,
        signing: { keys: present, acceptNewKey: false, acceptLoss: false, ...signing },
        ...settings,
      },
    })
  }
  await begin({})
  const running = (): Service => {
    assert.ok(service !== null)
    return service
  }
  const stage: OriginStage = {
    data,
    clock,
    later: (days) => msOf(clock.now() + days * DAY_MS),
    vkey: () => vkeyOf(present.at(-1) ?? TEST_KEY),
    url: () => `http://127.0.0.1:${running().port}`,
    async publish(drafts) {
      clock.set(msOf(clock.now() + 60_000))
      const response = await postDrafts(running(), drafts)
      assert.equal(response.status, 200, await response.text())
    },
    trade: (many) =>
      stage.publish(
        Array.from({ length: many }, () => {
          published += 1
          return { ref: `trade-${published}`, type: 'trade', kind: 'buy', kots: `${published}` }
        }),
      ),
    async restart(keysNow, signing = {}) {
      present = keysNow ?? present
      await running()[Symbol.asyncDispose]()
      await begin(signing)
    },
    stop: async () => running()[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await service?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return stage
}

/** Settings of a mirror that waits `SPEED` times faster than usual. */
export function fastSettings(url: string, dataDirectory: string): MirrorSettings {
  return {
    url,
    dataDirectory,
    vkeys: [],
    followFormer: false,
    version: 'test',
    now: () => msOf(Date.now()),
    around: {
      now: () => performance.now() * SPEED,
      sleep: (ms, signal) => SURROUNDINGS.sleep(ms / SPEED, signal),
    },
  }
}

/** A data directory for a mirror, and the mirror on it while it follows. */
type MirrorStage = AsyncDisposable &
  Readonly<{
    data: string
    build(
      settings?: Partial<MirrorSettings>,
      progress?: (one: MirrorProgress) => void,
    ): Promise<MirrorBuilt | Contradicted>
    /** Builds, and begins to follow. */
    follow(settings?: Partial<MirrorSettings>): Promise<void>
    /** Waits until the state is as wanted. */
    until(wanted: (state: MirrorState) => boolean): Promise<MirrorState>
    /** Waits until the mirror has proved this many events. */
    reach(seq: number): Promise<void>
    /** Waits until the mirror has ended by itself. */
    end(): Promise<unknown>
    state(): MirrorState
    head(): number
    /** Stops following, as a service does at its end. */
    stop(): Promise<void>
    /** Names and contents of the files of the newest evidence. */
    evidence(): Readonly<Record<string, string>>
  }>

/** Opens a directory for a mirror of `url`. Nothing is asked before it is built. */
export function openMirror(url: () => string, own: Partial<MirrorSettings> = {}): MirrorStage {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-'))
  const data = join(folder, 'data')
  const listeners = new Set<() => void>()
  let mirroring: Mirroring | null = null
  let running: Promise<unknown> = Promise.resolve()
  let stop = new AbortController()
  const cell = openHeadCell()
  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  const settingsFor = (more: Partial<MirrorSettings>): MirrorSettings => ({
    ...fastSettings(url(), data),
    ...own,
    ...more,
  })
  const open = (): Mirroring => {
    assert.ok(mirroring !== null, 'the mirror follows')
    return mirroring
  }
  const stage: MirrorStage = {
    data,
    async build(settings = {}, onProgress = () => undefined) {
      const building: MirrorBuildListeners = { onProgress, signal: AbortSignal.timeout(DEADLINE_MS) }
      return buildMirror(settingsFor(settings), building)
    },
    async follow(settings = {}) {
      const built = await stage.build(settings)
      assert.equal(built.is, 'ready', JSON.stringify(built))
      const following: MirrorListeners = { onCommitted: notify, onFault: notify }
      mirroring = openMirroring(settingsFor(settings), cell, following)
      stop = new AbortController()
      running = mirroring.run(stop.signal).finally(notify)
      running.catch(() => undefined)
    },
    async until(wanted) {
      const late = performance.now() + DEADLINE_MS
      while (!wanted(open().state())) {
        assert.ok(performance.now() < late, JSON.stringify(open().state()))
        const { promise, resolve } = Promise.withResolvers<void>()
        listeners.add(resolve)
        await Promise.race([promise, SURROUNDINGS.sleep(50)])
        listeners.delete(resolve)
      }
      return open().state()
    },
    async reach(seq) {
      await stage.until(() => cell.read() >= seq)
    },
    end: () => running,
    state: () => open().state(),
    head: () => cell.read(),
    async stop() {
      stop.abort()
      await running
      mirroring?.[Symbol.dispose]()
      mirroring = null
    },
    evidence() {
      const parent = join(data, 'evidence')
      const newest = existsSync(parent) ? readdirSync(parent).toSorted().at(-1) : undefined
      if (newest === undefined) return {}
      const names = readdirSync(join(parent, newest))
      return Object.fromEntries(names.map((name) => [name, readFileSync(join(parent, newest, name), 'utf8')]))
    },
    async [Symbol.asyncDispose]() {
      await stage.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return stage
}

/** Tables that do not follow from the public log, or that the mirror does not have. */
const OWN_TABLES = new Set(['meta', 'refs', 'held', 'settled', 'vouched', 'held_counts', 'sqlite_sequence'])

/** Asserts that a mirror's store has the same rows as its origin's in every table that follows from the log. */
export function assertMirrors(mirror: string, origin: string): void {
  const db = new DatabaseSync(storePath(mirror))
  try {
    db.prepare('ATTACH ? AS origin').run(storePath(origin))
    assert.equal(db.prepare('PRAGMA main.integrity_check').get()?.['integrity_check'], 'ok')
    const schemaOf = (name: string): unknown =>
      db.prepare(`SELECT type, name, sql FROM ${name}.sqlite_schema ORDER BY type, name`).all()
    assert.deepEqual(schemaOf('main'), schemaOf('origin'))
    const identity = (name: string): unknown =>
      db
        .prepare(`SELECT * FROM ${name}.meta WHERE key IN ('id', 'origin', 'chain', 'simulated', 'former')`)
        .all()
    assert.deepEqual(identity('main'), identity('origin'))
    for (const { name } of db.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'").all()) {
      const table = String(name)
      if (OWN_TABLES.has(table)) continue
      // A mirror has the signatures of the checkpoints that it fetched.
      const columns = table === 'events' ? 'seq, at, code, contest, nonzero, line, leaf' : '*'
      for (const [one, other] of [
        ['main', 'origin'],
        ['origin', 'main'],
      ]) {
        const found = db
          .prepare(
            `SELECT ${columns} FROM ${one}.${table} EXCEPT SELECT ${columns} FROM ${other}.${table} LIMIT 3`,
          )
          .all()
        assert.deepEqual(found, [], `rows of ${table} in ${one} only`)
      }
    }
  } finally {
    db.close()
  }
}
