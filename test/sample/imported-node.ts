import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { ServiceSettings } from '../../src/command/service/service.ts'
import type { NewLog } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { importFiles } from '../../src/publish/import/import.ts'
import { TEST_KEY } from '../story/signing.ts'
import { cosignNewest } from '../story/witnesses.ts'
import { LOCAL_TOKEN, startLocalNode } from '../stage/manual-node.ts'
import { SAMPLE } from '../stage/places.ts'
import type { Service } from '../stage/service.ts'

/** Settings of a service: drafts to import first, the chain, and settings in place of the usual ones. */
type ImportedNodeOptions = Readonly<{
  drafts?: string
  chain?: NewLog['chain']
  settings?: Partial<ServiceSettings>
}>

let sample: Promise<Service> | undefined
after(async () => {
  if (sample === undefined) return
  const { [Symbol.asyncDispose]: close } = await sample
  await close()
})

/** The service of the sample, signed by `TEST_KEY` and cosigned. All tests of a process share it and only read it. */
export function sharedSample(): Promise<Service> {
  sample ??= openSample()
  return sample
}

async function openSample(): Promise<Service> {
  const service = await startImportedNode({ drafts: SAMPLE })
  await cosignNewest(service)
  return service
}

/**
 * Starts a service in this process, at a fixed moment: the present. It takes a third of the processor time of a service
 * in its own process. Disposal removes its data directory.
 */
export async function startImportedNode({
  drafts,
  chain = 'solana',
  settings = {},
}: ImportedNodeOptions): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-local-'))
  const data = join(folder, 'data')
  const newLog: NewLog = { origin: 'localhost/daybook', chain, simulated: false }
  const clock = openSharedClock()
  clock.set(msOf(Date.now()))
  if (drafts !== undefined) await importDrafts(drafts, data, newLog)
  const service = await startLocalNode(data, newLog, [TEST_KEY], clock, { settings })
  return {
    url: `http://127.0.0.1:${service.port}`,
    publishUrl: `http://127.0.0.1:${service.publishPort}`,
    token: LOCAL_TOKEN,
    data,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}

/** Imports a file of valid drafts into a new data directory, signed by `TEST_KEY`. */
async function importDrafts(file: string, data: string, newLog: NewLog): Promise<void> {
  const outcome = await importFiles({
    files: [file],
    dataDirectory: data,
    newLog,
    keys: [TEST_KEY],
    balances: 'refuse',
    now: msOf(Date.now()),
    monotonicMs: () => performance.now(),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  })
  assert.ok(outcome.ok, JSON.stringify(outcome))
}
