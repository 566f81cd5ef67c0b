import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { connectPublishers } from './publish-load.ts'

/** Work of a load thread for `forMs`. */
export type Load = Readonly<{ forMs: number }> &
  (
    | Readonly<{
        is: 'publish'
        port: number
        token: string
        publishers: number
        drafts: number
        name: string
      }>
    /** Readers that page through the whole log in a loop, each on its own connection. */
    | Readonly<{ is: 'page'; port: number; readers: number; limit: number }>
    /** One reader that requests the newest figures every `everyMs`. */
    | Readonly<{ is: 'ask'; port: number; path: string; everyMs: number }>
  )

/** Time of each request in ms. */
export type LoadResult = Readonly<{ latenciesMs: readonly number[] }>

/** Grace period in ms in which a load must end. */
const LATE_MS = 10_000

/** Runs a load in its own thread, so that no load delays another. Throws when it does not end in time. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const thread = new Worker(new URL(import.meta.url), { workerData: load })
  try {
    const signal = AbortSignal.timeout(load.forMs + LATE_MS)
    const [loaded] = (await once(thread, 'message', { signal })) as [LoadResult]
    return loaded
  } catch (cause) {
    throw new Error(`a load (${load.is}) failed`, { cause })
  } finally {
    await thread.terminate()
  }
}

async function publish(load: Load & { is: 'publish' }): Promise<LoadResult> {
  using publishers = await connectPublishers(load.port, load.token, load.publishers, load.name)
  return await publishers.publish(load.drafts, load.forMs)
}

async function page({ port, readers, limit, forMs }: Load & { is: 'page' }): Promise<LoadResult> {
  const endMs = performance.now() + forMs
  const latenciesMs: number[] = []
  const read = async (reader: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    // Each reader begins at another place, as real readers do.
    let after = reader * limit
    while (performance.now() < endMs) {
      const { body, ms } = await take(port, `/api/v1/events?after=${after}&limit=${limit}`, agent)
      latenciesMs.push(ms)
      const scannedTo = /"scannedTo":(\d+)/.exec(body.toString('latin1', body.length - 400))?.[1]
      if (scannedTo === undefined) throw new Error('a page says how far it reaches')
      after = Number(scannedTo) - after < limit ? 0 : Number(scannedTo)
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: readers }, (_, reader) => read(reader)))
  return { latenciesMs }
}

async function ask({ port, path, everyMs, forMs }: Load & { is: 'ask' }): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const latenciesMs: number[] = []
  const began = performance.now()
  for (let turn = 0; turn * everyMs < forMs; turn++) {
    // Counted from the planned moment, so that a late answer does not hide the delay of the next request.
    const dueMs = began + turn * everyMs
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const { ms } = await take(port, path, agent)
    latenciesMs.push(ms)
  }
  agent.destroy()
  return { latenciesMs }
}

function take(port: number, path: string, agent: Agent): Promise<Readonly<{ body: Buffer; ms: number }>> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    get({ port, host: '127.0.0.1', path, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200)
          resolve({ body: Buffer.concat(chunks), ms: performance.now() - began })
        else reject(new Error(`${path}: ${response.statusCode}`))
      })
    }).on('error', reject)
  })
}

if (parentPort !== null) {
  const load: Load = workerData
  const loaded = load.is === 'publish' ? publish(load) : load.is === 'page' ? page(load) : ask(load)
  parentPort.postMessage(await loaded)
}
