import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Service } from '../../src/command/service/service.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/door/shared-clock.ts'
import { KEPT_LOG, unpackKept } from '../books/kept-store.ts'
import { until } from '../processes/other-program.ts'
import { run } from '../stage/command-stage.ts'
import { startLocalNode } from '../stage/manual-node.ts'
import type { ScriptedWitness } from '../witness/scripted-witness.ts'
import { startScriptedWitness } from '../witness/scripted-witness.ts'
import { startMirrorNode } from './mirror-stage.ts'

const NOW = Date.UTC(2026, 3, 20, 12, 0, 30, 500)
const FEED_PACE = { roundMs: 20, idleMs: 60_000 }

const at = (port: number): string => `http://127.0.0.1:${port}`
const bodyOf = async (port: number, path: string): Promise<string> =>
  (await fetch(`${at(port)}/api/v1/log/${path}`)).text()

suite('a mirror of a log with witnesses', () => {
  const kept = unpackKept(SCHEMA_VERSION)
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-'))
  const clock = openSharedClock()
  clock.set(msOf(NOW))
  let witness: ScriptedWitness
  let origin: Service
  before(async () => {
    witness = await startScriptedWitness('witness.example/one')
    witness.timeSeconds = () => Math.floor(clock.now() / 1_000)
    const { key, url } = witness
    const witnesses = { witnesses: [{ key, url }], quorum: 1 }
    const settings = { witnesses, feedPace: FEED_PACE }
    origin = await startLocalNode(kept.data, KEPT_LOG, kept.keys, clock, { settings })
    await until('the origin is witnessed', async () =>
      (await bodyOf(origin.port, 'checkpoint.witnessed')).includes(`— ${key.name} `),
    )
  })
  after(async () => {
    await origin[Symbol.asyncDispose]()
    await witness[Symbol.asyncDispose]()
    kept[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })

  test('passes on what they vouch for, and a mirror of it does too', async () => {
    await using near = await startMirrorNode(join(folder, 'near'), at(origin.port), clock.now)
    const passes = (port: number) => async (): Promise<boolean> =>
      (await bodyOf(port, 'checkpoint.witnessed')).includes(`— ${witness.key.name} `)
    await until('the mirror passes it on', passes(near.port))
    await using far = await startMirrorNode(join(folder, 'far'), at(near.port), clock.now)
    await until('the mirror of the mirror passes it on', passes(far.port))
    for (const path of ['checkpoint.witnessed', 'witnesses', 'proof/7?checkpoint=witnessed']) {
      assert.equal(await bodyOf(far.port, path), await bodyOf(origin.port, path), path)
    }
    const asked = ['verify', at(far.port), '--witness', witness.vkey]
    const { code, stdout, stderr } = await run(asked, { now: clock.now })
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /witness\.example\/one/)
  })
})
