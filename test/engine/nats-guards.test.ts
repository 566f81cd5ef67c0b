import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { NatsConnection } from '@nats-io/transport-node'
import { EngineError } from '../../src/engine/log-engine.ts'
import { connectNats, openNats } from '../../src/engine/nats/nats-connection.ts'
import { inspectNats } from '../../src/engine/nats/nats-guards.ts'
import { makeNatsUser, makeStream, natsUserOf } from '../../src/engine/nats/nats-setup.ts'
import { parseNatsUrl } from '../../src/engine/nats/nats-target.ts'
import { expectedConfig } from '../../src/engine/nats/stream-settings.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { NATS_NEEDED, NATS_SERVER } from './nats-program.ts'
import { canInject } from './fault-injection.ts'
import { startNatsRig } from './nats-rig.ts'
import { until } from '../processes/other-program.ts'
import { traceSyncs } from './traced-syncs.ts'
import { appendUntilRead } from './settled-append.ts'

const HOUR_NANOS = 3_600_000_000_000

/** Path of the log of Raft, in which a message is before it is acknowledged: a broker that loses power has it. */
const RAFT_LOG = '/_js_/S-R3F-'
const TRACED = { skip: skipUnless(canInject(), 'strace') }
const monotonicMs = (): number => performance.now()
/** Time of day with fractions of milliseconds. */
const epochMs = (): number => performance.timeOrigin + performance.now()

/** Changes of the configuration, and the settings that `inspect` names. */
const DRIFTS: readonly (readonly [changed: Readonly<Record<string, unknown>>, named: readonly string[]])[] = [
  [{ num_replicas: 1 }, ['num_replicas']],
  [{ storage: 'memory' }, ['storage']],
  [{ max_age: HOUR_NANOS }, ['max_age']],
  [{ max_msgs: 1_000 }, ['max_msgs']],
  [{ max_bytes: 1_000_000_000 }, ['max_bytes']],
  [{ max_msgs_per_subject: 10 }, ['max_msgs_per_subject']],
  [{ discard: 'old' }, ['discard']],
  [{ retention: 'interest' }, ['retention']],
  [{ allow_rollup_hdrs: true, deny_purge: false }, ['allow_rollup_hdrs', 'deny_purge']],
  [{ deny_delete: false }, ['deny_delete']],
  [{ allow_msg_ttl: true }, ['allow_msg_ttl']],
  [{ persist_mode: 'async', num_replicas: 1 }, ['num_replicas', 'persist_mode']],
  [{ first_seq: 100 }, ['first_seq']],
  [{ allow_direct: false }, ['allow_direct']],
  [{ max_msg_size: 1_000 }, ['max_msg_size']],
  [{ no_ack: true }, ['no_ack']],
  [{ republish: { src: 'daybook.>', dest: 'elsewhere.>' } }, ['republish']],
  [{ allow_atomic: true }, ['allow_atomic']],
  [{ subjects: ['daybook.other.>'] }, ['subjects']],
]

/** Requests with which the key of a writer could harm the log, or the cluster. */
const ATTEMPTS: readonly string[] = [
  '$JS.API.STREAM.CREATE.daybook-99',
  '$JS.API.STREAM.UPDATE.daybook-1',
  '$JS.API.STREAM.DELETE.daybook-1',
  '$JS.API.STREAM.PURGE.daybook-1',
  '$JS.API.STREAM.RESTORE.daybook-1',
  '$JS.API.STREAM.SNAPSHOT.daybook-1',
  '$JS.API.STREAM.MSG.DELETE.daybook-1',
  '$JS.API.STREAM.MSG.GET.daybook-1',
  '$JS.API.STREAM.INFO.daybook-1',
  '$JS.API.STREAM.LIST',
  '$JS.API.STREAM.LEADER.STEPDOWN.daybook-1',
  '$JS.API.STREAM.PEER.REMOVE.daybook-1',
  '$JS.API.CONSUMER.CREATE.daybook-1',
  '$JS.API.CONSUMER.DURABLE.CREATE.daybook-1.c',
  '$JS.API.CONSUMER.DELETE.daybook-1.c',
  '$JS.API.META.LEADER.STEPDOWN',
  '$JS.API.SERVER.REMOVE',
  '$JS.API.ACCOUNT.PURGE.DAYBOOK',
  '$JS.API.DIRECT.GET.daybook-1.daybook.commits.1',
  '$SYS.REQ.SERVER.PING.CONNZ',
  '$SYS.REQ.SERVER.PING.PROFILEZ',
  '$SYS.REQ.SERVER.PING.KICK',
  '$SYS.REQ.SERVER.PING.LDM',
  '$SYS.REQ.CLAIMS.LIST',
  'daybook.commits',
  'orders.new',
  '_INBOX.abc',
]

suite(
  'the guards of NATS',
  { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED), timeout: 300_000 },
  async () => {
    if (NATS_SERVER === undefined) return
    const rig = await startNatsRig()
    after(() => rig[Symbol.asyncDispose]())
    await rig.make(1)

    const url = `nats://${rig.brokers.map((broker) => broker.url).join(',')}`
    const target = parseNatsUrl(url, () => '')
    const configure = async (nats: NatsConnection, stream: number, changes: object): Promise<void> => {
      const config = { ...expectedConfig(stream), ...changes }
      const subject = `$JS.API.STREAM.CREATE.daybook-${stream}`
      // The leader of the cluster may not know all brokers yet.
      await until('the stream is made', async () => {
        const answer = await nats.request(subject, JSON.stringify(config), { timeout: 30_000 })
        assert.equal(answer.json<{ error?: { description: string } }>().error?.description, undefined)
        return true
      })
    }
    const faultsOf = async (stream: number): Promise<readonly string[]> => {
      await using connection = await rig.open(stream)
      return await connection.inspect()
    }

    test('find nothing in a stream that `cluster init` has made', async () => {
      assert.deepEqual(await faultsOf(1), [])
    })

    test('let a read wait for a replica until its time limit', async () => {
      await using connection = await rig.open(99)
      const begun = performance.now()
      await assert.rejects(connection.log.read(1, 1_000), /from message 1 on: no replica can be asked/)
      assert.ok(performance.now() - begun > 4_900)
    })

    test('name every setting of a stream that differs', async () => {
      const nats = await rig.admin()
      await Promise.all(
        DRIFTS.map(async ([changes, named], at) => {
          await configure(nats, 100 + at, changes)
          // A new stream may have no leader for a moment.
          await until('the settings are named', async () => {
            const faults = await faultsOf(100 + at)
            const found = faults.flatMap(
              (fault) => /^the stream daybook-\d+ has ([a-z_]+) .*: it must be /.exec(fault)?.[1] ?? [],
            )
            assert.deepEqual(found.toSorted(), named, faults.join('; '))
            return true
          })
        }),
      )
    })

    test('name an update of the stream that erases its history', async () => {
      const nats = await rig.admin()
      await rig.make(2)
      await using connection = await rig.open(2)
      const body = new TextEncoder().encode('a commit')
      for (let place = 1; place <= 20; place += 1) await connection.log.append(place, body)
      const config = { ...expectedConfig(2), max_msgs: 5, discard: 'old' }
      await nats.request('$JS.API.STREAM.UPDATE.daybook-2', JSON.stringify(config), { timeout: 30_000 })
      const faults = (await connection.inspect()).join('\n')
      assert.match(faults, /daybook-2 has max_msgs 5: it must be -1/)
      assert.match(faults, /daybook-2 has discard "old": it must be "new"/)
      assert.match(faults, /daybook-2 has 5 messages of 20: some were deleted/)
      await assert.rejects(connection.log.read(1, 1_000), {
        name: 'EngineError',
        message: 'daybook-2 cannot be read from message 1 on: message 1 is missing, and 16 follows',
      })
    })

    test('name a stream that is missing', async () => {
      assert.deepEqual(await faultsOf(77), [
        'the brokers have no stream daybook-77: make it with `daybook cluster init`',
      ])
      await using connection = await rig.open(77)
      await assert.rejects(connection.log.last(), EngineError)
      assert.equal(await connection.log.append(1, new Uint8Array(1)), 'unknown')
    })

    test(
      'have brokers of which a majority syncs each message before it is acknowledged',
      TRACED,
      async () => {
        await rig.make(5)
        await using connection = await rig.open(5)
        await using stack = new AsyncDisposableStack()
        const traces = await Promise.all(rig.brokers.map((broker) => traceSyncs(broker.pid())))
        for (const trace of traces) stack.use(trace)
        const acknowledged: (readonly [sentMs: number, ackMs: number])[] = []
        for (let place = 1; place <= 5;) {
          const sentMs = epochMs()
          const answer = await connection.log.append(place, new TextEncoder().encode(`commit ${place}`))
          if (answer === 'appended') acknowledged.push([sentMs, epochMs()])
          else await connection.log.wait(place, 100)
          place = (await connection.log.last()) + 1
        }
        assert.ok(acknowledged.length >= 3)
        for (const [sentMs, ackMs] of acknowledged) {
          const synced = traces.filter((trace) => trace.of(RAFT_LOG).some((ms) => ms > sentMs && ms < ackMs))
          assert.ok(synced.length >= 2, `${synced.length} brokers have synced`)
        }
      },
    )

    test('name the one broker that has other settings', async () => {
      const [, , broker] = rig.brokers
      assert.ok(broker !== undefined)
      await using connection = await rig.open(1)
      await broker.kill()
      broker.start({ jetstream: 'sync_interval: "2m"', top: 'max_payload: 1MB' })
      const expected = [
        'the broker broker-3 acknowledges before its disk has synced: set `sync_interval: always` in `jetstream`',
        'the broker broker-3 has max_payload 1048576: it must be 4198400 at least',
      ]
      await until('the faults are named', async () => (await connection.inspect()).length === expected.length)
      assert.deepEqual(await connection.inspect(), expected)
      await broker.kill()
      broker.start()
      await until('the faults are gone', async () => (await connection.inspect()).length === 0)
    })

    test('name a running user that may do more than it needs', async () => {
      const options = { target, credentials: rig.administrator, stream: 1, nowMs: Date.now, monotonicMs }
      await using connection = await openNats(options)
      assert.deepEqual(await connection.inspect(), [
        'the running user may publish to >, which it does not need: take it away',
        'the running user may subscribe to >, which it does not need: take it away',
      ])
    })

    test('leave the running user no way to change history', async () => {
      const nats = await connectNats(target, rig.running, monotonicMs)
      for (const subject of ATTEMPTS) {
        const why = await nats.request(subject, '{}', { timeout: 1_000 }).then(
          (answer) => `answered: ${answer.string()}`,
          (error: Error) => `${error.name} ${String(error.cause)}`,
        )
        assert.match(why, /permissions violation/i, subject)
      }
      for (const subject of ['daybook.commits.1', '>', '$JS.EVENT.>', '_INBOX.>']) {
        const refused = Promise.withResolvers<string>()
        nats.subscribe(subject, { callback: (error) => refused.resolve(String(error)) })
        assert.match(await refused.promise, /permissions violation/i, subject)
      }
      await nats.close()
      assert.deepEqual(await faultsOf(1), [])
    })

    test('refuse brokers without the credentials, and never show them', async () => {
      for (const credentials of [null, makeNatsUser().seed]) {
        await assert.rejects(connectNats(target, credentials, monotonicMs), (error: Error) => {
          assert.match(error.message, /take no connection: they refuse the credentials/)
          assert.ok(!error.message.includes(credentials ?? 'SU'))
          return true
        })
      }
      await assert.rejects(connectNats(target, 'password', monotonicMs), /has no seed of a user of NATS/)
    })

    test('name brokers on other machines that have no TLS, or let anybody in', async () => {
      const [, , broker] = rig.brokers
      assert.ok(broker !== undefined)
      const nats = await rig.admin()
      await broker.kill()
      const running = natsUserOf(rig.running).publicKey
      broker.start({ top: `max_payload: 5MB\nno_auth_user: ${running}`, cluster: '0.0.0.0' })
      const far = { ...target, isLoopback: false }
      const named = [
        `the broker at ${broker.url} lets anybody in: give it users, and no \`no_auth_user\``,
        ...rig.brokers.map(({ name }) => `the broker ${name} accepts connections without TLS: set \`tls\``),
        'the broker broker-3 talks to the other brokers without TLS: set `tls` in `cluster`',
      ]
      await until('they are named', async () => {
        const faults = await inspectNats(nats, 1, far)
        assert.deepEqual(
          faults.filter((fault) => !fault.includes('running user')).toSorted(),
          named.toSorted(),
        )
        return true
      })
      await broker.kill()
      broker.start()
      for (const address of ['nats://a.example.org', 'nats://127.0.0.1,10.0.0.1']) {
        const elsewhere = parseNatsUrl(address, () => '')
        assert.notEqual(elsewhere.tls, null)
        await assert.rejects(
          connectNats(elsewhere, null, monotonicMs),
          /on other machines: give a credentials file/,
        )
      }
    })

    test('refuse a broker without TLS when TLS is asked for', async () => {
      const secure = parseNatsUrl(url.replace('nats:', 'tls:'), () => '')
      await assert.rejects(connectNats(secure, rig.running, monotonicMs), /take no connection/)
    })

    test('leave a stream alone that is in use', async () => {
      const nats = await rig.admin()
      await rig.make(3)
      assert.equal(await makeStream(nats, 3), 'there')
      await using connection = await rig.open(3)
      assert.ok(await appendUntilRead(connection.log, 1, new Uint8Array(1), () => true))
      await assert.rejects(makeStream(nats, 3), /daybook-3 has 1 messages: it is the log of a cluster/)
      await configure(nats, 4, { max_msgs: 10 })
      await assert.rejects(
        makeStream(nats, 4),
        /there is a stream daybook-4 with other settings: .*max_msgs 10/,
      )
      await nats.close()
    })
  },
)
