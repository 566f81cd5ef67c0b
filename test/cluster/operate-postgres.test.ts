import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { openMainLines } from '../../src/command/log-lines/log-lines.ts'
import { logStoreOf } from '../../src/command/operator/log-store-options.ts'
import type { Service } from '../../src/command/service/service.ts'
import { decodeMessage, digestOfMessage, encodeMessage } from '../../src/log/message/message-frame.ts'
import { certifyNode } from '../../src/log/message/node-key.ts'
import type { NewLog } from '../../src/log/store/store.ts'
import { readyLog } from '../../src/log/tree/ready-log.ts'
import { vkeysOf } from '../../src/log/tree/served-tree.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/guards/shared-clock.ts'
import type { PostgresRig } from '../engine/postgres-rig.ts'
import { openPostgresRig } from '../engine/postgres-rig.ts'
import { hasPostgres } from '../outbox/postgres-server.ts'
import { run } from '../stage/command-stage.ts'
import { LOCAL_TOKEN, manualWorld, postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { isReadyToPublish } from '../writers/writers-stage.ts'
import { until } from '../processes/other-program.ts'

const NEW_LOG: NewLog = { origin: 'daybook.test/operated', chain: 'opaque', simulated: false }
const BOTH = vkeysOf(NEW_LOG.origin, [TEST_KEY, OTHER_KEY])

/** Time that a node has to take drafts after a fork, before it is started again. */
const READY_MS_MAX = 60_000

const doorOf = ({ publishPort }: Service): string => `http://127.0.0.1:${publishPort}`

suite('a log on PostgreSQL', { timeout: 400_000, skip: skipUnless(hasPostgres, 'postgresql') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-operated-'))
  const newKey = join(folder, 'new.key')
  const at = (name: string): readonly string[] => ['--data', join(folder, name), '--signing-key-file', newKey]
  const clock = openSharedClock()
  const stack = new AsyncDisposableStack()
  const nodes = new Map<string, Service>()
  let rig: PostgresRig
  let said = ''
  const stderr = new PassThrough().on('data', (bytes: Buffer) => (said += bytes.toString()))

  before(async () => {
    clock.set(msOf(Date.now()))
    rig = stack.use(await openPostgresRig())
    await rig.makeStream()
    readyLog(join(folder, 'a'), NEW_LOG, { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false })
    const pem = TEST_KEY.privateKey.export({ format: 'pem', type: 'pkcs8' })
    writeFileSync(join(folder, 'a.key'), pem, { mode: 0o600 })
    writeFileSync(newKey, OTHER_KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
    writeFileSync(join(folder, 'token'), LOCAL_TOKEN, { mode: 0o600 })
    const moved = await run(['cluster', 'move', '--data', join(folder, 'a'), '--log-store', rig.url()])
    assert.equal(moved.code, 0, moved.stderr)
    await Promise.all([start('a', [TEST_KEY, OTHER_KEY]), start('b', [TEST_KEY])])
  })
  after(async () => {
    for (const node of nodes.values()) await node[Symbol.asyncDispose]()
    await stack.disposeAsync()
    rmSync(folder, { recursive: true, force: true })
  })

  async function start(name: string, keys: readonly SigningKey[], isStopped = false): Promise<void> {
    const lines = openMainLines({ ...manualWorld(clock.now), stderr })
    const settings = { logStore: logStoreOf({ logStore: rig.url(), nodeName: name }) }
    const node = await startLocalNode(join(folder, name), NEW_LOG, keys, clock, { lines, settings })
    nodes.set(name, node)
    if (!isStopped) await until(`${name} takes drafts`, () => isReadyToPublish(doorOf(node)))
  }

  /**
   * Starts a node after a fork until `holds`. An engine that does not answer in time counts as away, as on a slow machine,
   * and then the node stays stopped until its next start.
   */
  const startAfterFork = (
    name: string,
    keys: readonly SigningKey[],
    holds: (refusal: string) => Promise<boolean>,
  ): Promise<void> =>
    until(`${name} starts after the fork`, async () => {
      await stop(name)
      return await holds(await start(name, keys, true).then(() => '', String))
    })

  /** Starts a node after a fork, on the branch that was adopted. */
  const startAdopted = (name: string): Promise<void> =>
    startAfterFork(name, [OTHER_KEY], async (refusal) => {
      assert.equal(refusal, '')
      await until(`${name} takes drafts`, () => isReadyToPublish(doorOf(nodeOf(name))), READY_MS_MAX)
      return true
    })

  async function stop(name: string): Promise<void> {
    await nodes.get(name)?.[Symbol.asyncDispose]()
    nodes.delete(name)
  }

  function nodeOf(name: string): Service {
    const node = nodes.get(name)
    assert.ok(node !== undefined)
    return node
  }

  /** Asks the node a for a step of the operator until it says what is expected. A slow machine hears the others late. */
  const step = (words: readonly string[], expected: RegExp): Promise<void> =>
    until(`${words[0]} says ${expected}`, async () => {
      const door = ['--to', doorOf(nodeOf('a')), '--token-file', join(folder, 'token')]
      const answered = await run(['cluster', ...words, ...door])
      assert.match(answered.stdout + answered.stderr, expected)
      return true
    })

  const check = (...words: readonly string[]): ReturnType<typeof run> =>
    run(['cluster', 'check', '--log-store', rig.url(), ...words])

  const answer = async (name: string, path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${nodeOf(name).port}/api/v1/${path}`)).text()

  async function publish(name: string, ref: string): Promise<void> {
    await until(`${name} publishes ${ref}`, async () => {
      const draft = { ref, type: 'treasury', kind: 'deposit', kots: '1' }
      return (await postDrafts(nodeOf(name), [draft])).status === 200
    })
  }

  /** Waits until both nodes have the same checkpoint, with so many signatures. */
  const untilSigned = (signatures: number): Promise<void> =>
    until(`${signatures} keys sign on both nodes`, async () => {
      const [one, other] = await Promise.all(['a', 'b'].map((name) => answer(name, 'log/checkpoint')))
      return one === other && one?.split('\n').filter((line) => line.startsWith('— ')).length === signatures
    })

  test('changes its key on both writers at once, when both have shown that they hold it', async () => {
    await publish('a', 'before the change')
    await untilSigned(1)
    await step(['keys', ...BOTH], /^daybook: the writer b has not shown that it holds the key: [^+]*$/)
    await stop('b')
    await start('b', [TEST_KEY, OTHER_KEY])
    await step(['keys', ...BOTH], /^the log is signed with these keys at seq 1:\n.*\n.*\n$/)
    await untilSigned(2)
    await step(['keys', ...BOTH.slice(1)], /^the log is signed with these keys at seq 1:\n.*\n$/)
    await untilSigned(1)
    await publish('b', 'after the change')
    await untilSigned(1)
    assert.equal(await answer('a', 'log/keys'), await answer('b', 'log/keys'))
    assert.match(
      await answer('b', 'log/keys'),
      /"state":"retired".*"state":"signing".*daybook key rotation v1/,
    )
  })

  test('rolls to the next stream, is checked from the engine, and against a directory', async () => {
    await step(['roll'], /stream 2 is not ready/)
    await rig.makeStream()
    await step(['roll'], /^the log goes on in stream 2 after seq 2:/)
    await publish('b', 'after the roll')
    await until('a follows', async () => (await answer('a', 'events/3')).includes('"seq":3'))
    const whole = await check()
    assert.equal(whole.code, 0, whole.stderr)
    assert.match(whole.stdout, /messages follow each other up to seq 3 of log/)
    await stop('b')
    const compared = await check('--data', join(folder, 'b'))
    assert.match(compared.stdout, /and the store agrees with them/, compared.stderr)
    const primary = join(folder, 'b', 'primary')
    const [systemId = '', timeline = ''] = readFileSync(primary, 'utf8').split(' ')
    writeFileSync(primary, `${systemId} ${Number(timeline) + 1}\n`)
    for (const words of [
      ['check', '--data', join(folder, 'b')],
      ['move', '--back', ...at('b')],
      ['adopt', 'engine', ...at('b')],
    ]) {
      const refused = await run(['cluster', ...words, '--log-store', rig.url()])
      assert.match(refused.stderr, /its timeline is \d+, older than \d+, which was seen/)
    }
    writeFileSync(primary, `${systemId} ${timeline}`)
  })

  test('goes on with the branch of one writer after a fork, and the other one starts from a backup', async () => {
    const both = [TEST_KEY, OTHER_KEY]
    await publish('a', 'of a')
    await stop('a')
    const table = `daybook_commits_${rig.stream()}`
    await rig.sql(rig.primary(), `DELETE FROM ${table} WHERE n = (SELECT max(n) FROM ${table})`)
    // The operator believes that a is gone for good.
    rmSync(join(folder, 'b', 'writers'), { force: true })
    await start('b', both)
    await publish('b', 'of b')
    await start('a', both, true)
    await until('both stop', async () => {
      const isReady = await Promise.all(['a', 'b'].map((name) => isReadyToPublish(doorOf(nodeOf(name)))))
      return said.split('"fact":"fork-kept"').length === 3 && isReady.every((is) => !is)
    })
    const adopt = (branch: string): ReturnType<typeof run> =>
      run(['cluster', 'adopt', branch, ...at('a'), '--log-store', rig.url()])
    assert.match((await adopt('ours')).stderr, /another process uses this data directory/)
    await Promise.all([stop('a'), stop('b')])
    assert.match((await adopt('engine')).stderr, /another branch than this directory: adopt the branch ours/)
    assert.match((await adopt('ours')).stderr, /stream 3 is not ready: there is no table/)
    assert.equal((await adopt('theirs')).code, 2)
    await rig.makeStream()
    const adopted = await adopt('ours')
    assert.equal(adopted.code, 0, adopted.stderr)
    assert.equal((await adopt('ours')).stdout, adopted.stdout)

    rmSync(join(folder, 'a', 'writers'), { force: true })
    await startAdopted('a')
    const copy = join(folder, 'adopted.db')
    assert.equal((await run(['backup', '--data', join(folder, 'a'), '--to', copy])).code, 0)
    await startAfterFork('b', both, async (refusal) => /adopted another branch of this log/.test(refusal))
    const restored = await run(['restore', '--from', copy, ...at('b')])
    assert.equal(restored.code, 0, restored.stderr)
    await startAdopted('b')
    const { stdout, stderr: counts } = await run(['cluster', 'reclaim', '--data', join(folder, 'a')])
    assert.match(counts, /drafts that the log lacks: 1; drafts that it has: 0/)
    const { status } = await postDrafts(nodeOf('b'), [JSON.parse(stdout) as object])
    assert.equal(status, 200)
    await until('a follows', async () => (await answer('a', 'events/5')).includes('"seq":5'))
    await untilSigned(1)
    for (const path of ['log/checkpoint', 'log/keys', 'events?limit=10'])
      assert.equal(await answer('a', path), await answer('b', path))
    assert.match(
      await answer('a', 'log/keys'),
      /"formerLogs":\[\{"id":"[0-9a-f]+","origin":"daybook\.test\/operated","size":4/,
    )
  })

  test('stops its writers at messages of a version that they do not read, and names the Daybook for it', async () => {
    await step(['version'], /^messages have version 1 already: nothing was changed\n$/)
    await using connection = rig.connect()
    const last = await connection.log.last()
    const [newest] = await connection.log.read(last, 1)
    const decoded = decodeMessage(newest?.bytes ?? new Uint8Array(0))
    assert.ok(decoded.ok && newest !== undefined)
    const { logId } = decoded.signed.message
    const place = {
      v: 1,
      logId,
      stream: rig.stream(),
      place: last + 1,
      prev: digestOfMessage(newest.bytes),
    } as const
    const version = { is: 'version', frames: 2, needs: '9.8.0' } as const
    const bytes = encodeMessage({ ...place, ...version }, certifyNode(logId, TEST_KEY, OTHER_KEY))
    assert.equal(await connection.log.append(last + 1, bytes), 'appended')
    await until('the writer stops', async () => !(await isReadyToPublish(doorOf(nodeOf('a')))))
    await until('the line says why', async () => said.includes('install Daybook 9.8.0 or newer'))
    assert.match(said, /"fact":"log-stopped".*messages of version 2 follow: install Daybook 9\.8\.0 or newer/)
    assert.match(await answer('a', 'events/3'), /"seq":3/)
    assert.match((await check()).stderr, /messages of version 2 follow: Daybook 9\.8\.0 or newer reads them/)
  })
})
