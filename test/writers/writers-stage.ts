import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logStoreOf } from '../../src/command/operator/log-store-options.ts'
import type { Service } from '../../src/command/service/service.ts'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { genesisOf } from '../../src/log/message/genesis.ts'
import { encodeMessage } from '../../src/log/message/message-frame.ts'
import { MESSAGE_VERSION } from '../../src/log/message/message.ts'
import { certifyNode, openNodeKey } from '../../src/log/message/node-key.ts'
import type { NewLog } from '../../src/log/store/store.ts'
import { openForWriting, readIdentity, storePath } from '../../src/log/store/store.ts'
import { readyLog } from '../../src/log/tree/ready-log.ts'
import type { FinalitySettings } from '../../src/publish/finality/finality-settings.ts'
import type { SharedClock } from '../../src/publish/guards/shared-clock.ts'
import { startLocalNode } from '../stage/manual-node.ts'
import type { NodeProcess } from '../stage/node-process.ts'
import { startNode } from '../stage/node-process.ts'
import { TEST_KEY } from '../story/signing.ts'
import { startNatsRig } from '../engine/nats-rig.ts'
import { until } from '../processes/other-program.ts'

/** An engine that is set up, and how a node reaches it. */
export type EngineStage = AsyncDisposable &
  Readonly<{
    url: string
    /** Content of the credentials file; null without one. */
    credentials: string | null
    /** Makes a new stream for another log. Returns its number. */
    makeStream(): Promise<void>
    connect(): Promise<EngineConnection>
  }>

/** Three brokers. */
export async function openNatsStage(): Promise<
  EngineStage & Pick<Awaited<ReturnType<typeof startNatsRig>>, 'brokers'>
> {
  const rig = await startNatsRig()
  return {
    brokers: rig.brokers,
    url: `nats://${rig.brokers.map(({ url }) => url).join(',')}`,
    credentials: rig.running,
    makeStream: () => rig.make(1),
    connect: () => rig.open(1),
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  }
}

/** Folder of a log whose first message is on the engine. Every writer joins it with an empty directory. */
type WritersStage = AsyncDisposable &
  Readonly<{
    folder: string
    /** Starts a writer in this process, with a clock that the test sets. */
    startLocal(name: string, clock: SharedClock, finality?: FinalitySettings | null): Promise<Service>
    /** Starts a writer in a process of its own. `wrapper` is a command before it. */
    start(name: string, wrapper?: readonly string[]): Promise<NodeProcess>
  }>

export async function openWritersStage(engine: EngineStage, chain: NewLog['chain']): Promise<WritersStage> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-writers-'))
  const newLog: NewLog = { origin: 'daybook.test/writers', chain, simulated: false }
  const keyFile = join(folder, 'log.key')
  writeFileSync(keyFile, TEST_KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  await engine.makeStream()
  await putGenesis(engine, join(folder, 'first'), newLog)
  const secret = join(folder, 'credentials')
  if (engine.credentials !== null) writeFileSync(secret, engine.credentials, { mode: 0o600 })
  const credentials = engine.credentials === null ? {} : { logStoreCredentials: secret }
  return {
    folder,
    startLocal: (name, clock, finality = null) =>
      startLocalNode(join(folder, name), newLog, [TEST_KEY], clock, {
        finality,
        settings: { logStore: logStoreOf({ logStore: engine.url, nodeName: name, ...credentials }) },
      }),
    start: (name, wrapper = []) =>
      startNode(
        join(folder, name),
        [
          '--log-store',
          engine.url,
          '--node-name',
          name,
          '--signing-key-file',
          keyFile,
          ...(engine.credentials === null ? [] : ['--log-store-credentials', secret]),
        ],
        wrapper,
        'cluster',
      ),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Makes a log, and appends its first message. */
async function putGenesis(engine: EngineStage, data: string, newLog: NewLog): Promise<void> {
  readyLog(data, newLog, { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false })
  const db = openForWriting(storePath(data))
  const { id } = readIdentity(db)
  const place = { v: MESSAGE_VERSION, logId: id, stream: 1, place: 1, prev: new Uint8Array(32) } as const
  const signer = certifyNode(id, openNodeKey(data), TEST_KEY)
  const bytes = encodeMessage({ ...place, ...genesisOf(db) }, signer)
  db.close()
  await using connection = await engine.connect()
  await until('the first message is appended', async () => {
    await connection.log.append(1, bytes)
    return (await connection.log.last()) === 1
  })
}

/** Whether a node takes drafts, by its private listener. */
export async function isReadyToPublish(door: string): Promise<boolean> {
  return (await fetch(`${door}/readyz?for=publish`)).status === 200
}
