import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Service } from '../../src/command/service/service.ts'
import { askedWitnesses } from '../../src/witness/command/serve-witnessed.ts'
import type { MirrorWitness } from '../../src/command/plug/option.ts'
import { witnessOf } from '../../src/witness/command/mirror-witness.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { openSigner } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts'
import { KEPT_LOG, unpackKept } from '../books/kept-store.ts'
import { freePort } from '../processes/free-ports.ts'
import { until } from '../processes/other-program.ts'
import { run } from '../stage/command-stage.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { OTHER_KEY } from '../story/signing.ts'
import { WITNESS_KEYS, WITNESS_NAME } from '../witness/cosigner-stage.ts'
import { submissionOf } from '../witness/sample-log.ts'
import { type ScriptedWitness, startScriptedWitness } from '../witness/scripted-witness.ts'
import { startMirrorNode } from './mirror-stage.ts'
import { formatVkey } from '../../src/tlog/note.ts'

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
    const settings = { cosigners: askedWitnesses(witnesses, FEED_PACE) }
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

suite('a mirror that cosigns', () => {
  const kept = unpackKept(SCHEMA_VERSION)
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-'))
  const clock = openSharedClock()
  clock.set(msOf(NOW))
  const witnessIn = (name: string, port: number): MirrorWitness => {
    const data = join(folder, name, 'witness')
    const settings = { name: WITNESS_NAME, data, host: '127.0.0.1', port, acceptCopy: false }
    return witnessOf(settings, () => WITNESS_KEYS)
  }
  let origin: Service
  let witnessPort = 0
  async function serve(keys = kept.keys): Promise<void> {
    const url = at(witnessPort)
    const witnesses = { witnesses: WITNESS_KEYS.map(({ verifier: key }) => ({ key, url })), quorum: 1 }
    const port = origin === undefined ? 0 : origin.port
    const settings = { cosigners: askedWitnesses(witnesses, FEED_PACE), port }
    origin = await startLocalNode(kept.data, KEPT_LOG, keys, clock, { settings })
  }
  before(async () => {
    witnessPort = await freePort()
    await serve()
  })
  after(async () => {
    await origin[Symbol.asyncDispose]()
    kept[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })
  let published = 0
  async function publish(): Promise<void> {
    published += 1
    clock.set(msOf(clock.now() + 20_000))
    const draft = { ref: `cosigned-${published}`, type: 'trade', kind: 'buy', kots: `${published}` }
    const answer = await postDrafts(origin, [draft])
    assert.equal(answer.status, 200, await answer.text())
  }
  const untilWitnessed = (): Promise<void> =>
    until('the origin is witnessed up to its head', async () => {
      const [note, newest] = await Promise.all(
        ['checkpoint.witnessed', 'checkpoint'].map((path) => bodyOf(origin.port, path)),
      )
      return note !== undefined && note !== newest && note.split('\n\n')[0] === newest?.split('\n\n')[0]
    })
  const countOf = async (port: number, outcome: string): Promise<number> => {
    const metrics = await (await fetch(`${at(port)}/metrics`)).text()
    return Number(
      new RegExp(`daybook_cosigner_requests_total{outcome="${outcome}"} (\\d+)`).exec(metrics)?.[1],
    )
  }

  test('is a witness of its origin: it waits for its own proof of a tree, also after a change of keys', async () => {
    await using mirror = await startMirrorNode(join(folder, 'near'), at(origin.port), clock.now, {
      witness: witnessIn('near', witnessPort),
    })
    assert.equal(mirror.witnessPort, witnessPort)
    await untilWitnessed()
    await publish()
    await untilWitnessed()
    assert.equal(
      await countOf(mirror.opsPort, 'unproved'),
      0,
      'the origin asks before the mirror has the tree',
    )
    const vkeys = WITNESS_KEYS.flatMap(({ verifier }) => ['--witness', formatVkey(verifier)])
    const { code, stdout, stderr } = await run(['verify', at(origin.port), ...vkeys], { now: clock.now })
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, new RegExp(WITNESS_NAME))

    await origin[Symbol.asyncDispose]()
    await serve([...kept.keys, OTHER_KEY])
    await publish()
    await untilWitnessed()
    const own = (await bodyOf(origin.port, 'checkpoint')).split(`— ${KEPT_LOG.origin} `).length - 1
    assert.equal(own, 2, 'both keys have signed')
    await origin[Symbol.asyncDispose]()
    await serve([OTHER_KEY])
    await publish()
    await untilWitnessed()
  })

  test('refuses a tree that it does not have, and after another one that the log has signed everything', async () => {
    await using mirror = await startMirrorNode(join(folder, 'far'), at(origin.port), clock.now, {
      witness: witnessIn('far', 0),
      proofWaitMsMax: 200,
    })
    const add = async (note: string): Promise<readonly [number, string, string | null]> => {
      const body = submissionOf(0, '', note)
      const answer = await fetch(`${at(mirror.witnessPort ?? 0)}/add-checkpoint`, { method: 'POST', body })
      return [answer.status, await answer.text(), answer.headers.get('retry-after')]
    }
    const newest = await bodyOf(origin.port, 'checkpoint')
    const tree = parseCheckpoint(newest.slice(0, newest.indexOf('\n\n') + 1)) ?? assert.fail()
    const { sign } = openSigner(KEPT_LOG.origin, [OTHER_KEY])
    await until('the mirror has all', async () => (await bodyOf(mirror.port, 'checkpoint')) === newest)
    const later = sign({ ...tree, size: tree.size + 1 }).note
    assert.deepEqual(await add(later), [503, 'this mirror does not have the tree yet\n', '10'])
    const retired = openSigner(KEPT_LOG.origin, kept.keys).sign(tree).note
    assert.equal((await add(retired))[0], 403)

    const forged = sign({ ...tree, root: new Uint8Array(32) }).note
    assert.deepEqual((await add(forged)).slice(0, 2), [422, 'this mirror has another tree of this size\n'])
    await publish()
    const evidence = join(folder, 'far', 'evidence')
    await until('the mirror has stopped', async () =>
      (await (await fetch(`${at(mirror.opsPort)}/readyz`)).text()).includes('"origin_agrees":false'),
    )
    assert.deepEqual(await add(newest), [
      503,
      'this mirror has stopped: the log has signed two histories\n',
      '10',
    ])
    const [kind = ''] = readdirSync(evidence)
    assert.equal(readFileSync(join(evidence, kind, 'served.checkpoint'), 'utf8'), forged)
    assert.match(readFileSync(join(evidence, kind, 'reason.txt'), 'utf8'), /FORK/)
  })
})
