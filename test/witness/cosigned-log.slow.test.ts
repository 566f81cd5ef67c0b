import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Service } from '../../src/command/service/service.ts'
import { askedWitnesses } from '../../src/witness/command/serve-witnessed.ts'
import type { ServedWitness } from '../../src/witness/command/served-witness.ts'
import { verifierKeyOf } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import type { Witnesses } from '../../src/protocol/endpoints/file-endpoints.ts'
import { openSharedClock, type SharedClock } from '../../src/publish/writer/shared-clock.ts'
import { formatVkey, parseVkey } from '../../src/tlog/note.ts'
import type { FeedChoice } from '../../src/witness/feed/feed-settings.ts'
import { until } from '../processes/other-program.ts'
import { run } from '../stage/command-stage.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { TEST_KEY } from '../story/signing.ts'
import { sha256 } from '../tlog/example.ts'
import { WITNESS_KEYS, WITNESS_NAME } from './cosigner-stage.ts'
import { HAS_LITEWITNESS, type Litewitness, LITEWITNESS_NEEDED, startLitewitness } from './litewitness.ts'
import { startStagedWitness } from './witness-stage.ts'

const ORIGIN = 'daybook.test/witnessed'
const NEW_LOG = { origin: ORIGIN, chain: 'opaque', simulated: false } as const
const LOG_KEY = verifierKeyOf(ORIGIN, TEST_KEY.publicKey)

suite(
  'a log with two litewitnesses and a daybook witness',
  { skip: skipUnless(HAS_LITEWITNESS, LITEWITNESS_NEEDED) },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-witnessed-'))
    const [data, copy] = [join(folder, 'log'), join(folder, 'copy')]
    const stack = new AsyncDisposableStack()
    let clock: SharedClock
    let lite: readonly [Litewitness, Litewitness]
    let own: ServedWitness
    let service: Service
    let published = 0
    const given = (): readonly string[] => [
      ...lite.map(({ vkey, url }) => `${vkey}=${url}`),
      ...WITNESS_KEYS.map(({ verifier }) => `${formatVkey(verifier)}=http://127.0.0.1:${own.port}`),
    ]
    const choice = (): FeedChoice => ({
      quorum: 2,
      witnesses: given().map((text) => {
        const [vkey = '', url = ''] = text.split(/=(?=http)/)
        return { key: parseVkey(sha256, vkey) ?? assert.fail(), url }
      }),
    })
    const start = (directory: string): Promise<Service> =>
      startLocalNode(directory, NEW_LOG, [TEST_KEY], clock, {
        settings: { cosigners: askedWitnesses(choice(), { roundMs: 50, idleMs: 60_000 }) },
      })
    const publish = async (to: Service, count: number, kots: string): Promise<void> => {
      const drafts = Array.from({ length: count }, () => ({
        ref: String((published += 1)),
        type: 'trade',
        kind: 'buy',
        kots,
      }))
      const { status } = await postDrafts(to, drafts)
      assert.equal(status, 200)
    }
    const get = (path: string, { port }: Service = service): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/api/v1/log/${path}`)
    const witnesses = async (of: Service = service): Promise<Witnesses> => {
      const answer: Witnesses = JSON.parse(await (await get('witnesses', of)).text())
      return answer
    }
    /** Waits until so many names vouch for the newest event. */
    const witnessed = (names: number): Promise<void> =>
      until(`${names} witnesses vouch for the newest event`, async () => {
        const answer = await witnesses()
        return (
          answer.witnessed?.seq === service.reader.head().seq && answer.witnessed.cosigners.length === names
        )
      })
    const verify = (of: Service, { port } = of) =>
      run([
        'verify',
        `http://127.0.0.1:${port}`,
        `--key=${formatVkey(LOG_KEY)}`,
        '--quorum=2',
        ...given().flatMap((text) => ['--witness', text]),
      ])

    before(async () => {
      clock = openSharedClock()
      clock.set(msOf(Date.now()))
      const logs = [{ origin: ORIGIN, vkeys: [formatVkey(LOG_KEY)] }]
      lite = await Promise.all([
        startLitewitness('litewitness.example/one', logs),
        startLitewitness('litewitness.example/two', logs),
      ])
      for (const one of lite) stack.use(one)
      const known = [{ origin: ORIGIN, keys: [LOG_KEY] }]
      own = await startStagedWitness(join(folder, 'witness'), known, () => msOf(Date.now()))
      stack.use(own)
      service = await start(data)
    })
    after(async () => {
      await service[Symbol.asyncDispose]()
      await stack.disposeAsync()
      rmSync(folder, { recursive: true })
    })

    test('has no witnessed checkpoint while it is empty, and one soon after its first events', async () => {
      assert.equal((await get('checkpoint.witnessed')).status, 404)
      await publish(service, 3, '1')
      await witnessed(3)
      const note = await (await get('checkpoint.witnessed')).text()
      assert.ok(note.startsWith(await (await get('checkpoint')).text()), 'the log has signed it')
      const names = [...note.matchAll(/(?<=^— )\S+/gm)].map(([name]) => name)
      assert.deepEqual(
        names.toSorted(),
        [ORIGIN, ...lite.map(({ vkey }) => vkey.replace(/\+.*$/, '')), WITNESS_NAME, WITNESS_NAME].toSorted(),
      )
      assert.equal(
        (await (await get('proof/2?checkpoint=witnessed')).text()).split('\n\n').slice(1).join('\n\n'),
        note,
      )
      const report = await verify(service)
      assert.equal(report.code, 0, report.stdout + report.stderr)
      assert.match(report.stdout, /witnesses.*vouch for 3 of 3 events/)
    })

    test('goes on with a quorum while a witness is killed, and with all once it is back', async () => {
      await lite[1].stop('SIGKILL')
      await publish(service, 300, '2')
      await witnessed(2)
      assert.deepEqual(
        (await witnesses()).witnesses.map(({ state }) => state),
        ['cosigning', 'silent', 'cosigning', 'cosigning'],
      )
      await lite[1].start()
      await witnessed(3)
    })

    test('asks from the size that its witnesses know, when a node starts without their cosignatures', async () => {
      await service[Symbol.asyncDispose]()
      cpSync(data, copy, { recursive: true })
      rmSync(join(data, 'witnessed.json'))
      service = await start(data)
      await publish(service, 1, '3')
      await witnessed(3)
    })

    test('in two histories is found out by either reader, and only one of them gets cosignatures', async () => {
      // A backup that is served again, with the key of the log and other events.
      await using other = await start(copy)
      await publish(other, 2, '4')
      await until('the witnesses refuse the other history', async () =>
        (await witnesses(other)).witnesses.every(({ state }) => state === 'refusing'),
      )
      assert.notEqual((await witnesses(other)).witnessed?.seq, other.reader.head().seq)
      const fork = await verify(other)
      assert.equal(fork.code, 1)
      assert.match(fork.stdout, /WRONG witnesses {2}.*SPLIT VIEW/s, fork.stdout)
      const right = await verify(service)
      assert.equal(right.code, 0, right.stdout)
    })
  },
)
