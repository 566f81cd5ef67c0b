import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { writeDrafts } from '../../sim/draft-file.ts'
import { history, HISTORY_MS } from '../../sim/history.ts'
import { drive, live } from '../../sim/live.ts'
import { hasStore, readStoreIdentity } from '../log/store.ts'
import { assert } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import { floorTo, MINUTE_MS, msOf } from '../protocol/moment.ts'
import { runImport } from './import.ts'
import { serve } from './serve.ts'
import type { Service, ServiceSettings } from './service.ts'
import type { ExitCode, World } from './world.ts'
import { tell } from './world.ts'

/** The seed of the demonstration: the same story at every first start, told up to the present. */
const SEED = 'daybook'

/** Serves a simulated platform: three months of history at the first start, then live events every few seconds. */
export async function demo(settings: ServiceSettings, world: World, log: Logger): Promise<ExitCode> {
  if (!hasStore(settings.data)) {
    tell(world, 'The first start makes up three months of history of a platform that does not exist.')
    const failed = await makeHistory(settings, world)
    if (failed !== 0) return failed
  }
  const path = `http://${settings.host}:${settings.port}`
  return serve(settings, world, log, async (service, stop) => {
    tell(world, `try: curl ${path.replace(/:0$/, `:${service.port}`)}/api/v1/summary`)
    await publishLive(service, settings, world, stop)
  })
}

async function makeHistory(settings: ServiceSettings, world: World): Promise<ExitCode> {
  mkdirSync(settings.data, { recursive: true })
  const to = floorTo(world.now(), MINUTE_MS)
  const file = join(settings.data, 'history.drafts.jsonl.gz')
  try {
    await writeDrafts(createWriteStream(file), history({ seed: SEED, from: msOf(to - HISTORY_MS), to }), {
      gzip: true,
    })
    return await runImport(
      { files: [file], data: settings.data, newLog: settings.newLog, balances: 'refuse' },
      world,
    )
  } finally {
    if (existsSync(file)) rmSync(file)
  }
}

/** Publishes through the door as an operator would, what the story says next, at its time. */
async function publishLive(
  service: Service,
  settings: ServiceSettings,
  world: World,
  stop: AbortSignal,
): Promise<void> {
  const from = service.reader.snapshot((snapshot) => snapshot.books.firstAtMs)
  assert(from !== null, 'the demonstration begins with a history')
  const dues = live({
    seed: SEED,
    from,
    to: msOf(from + HISTORY_MS),
    published: service.reader.head().seq,
    now: world.now,
  })
  const door = {
    now: world.now,
    until: (moment: Ms, signal: AbortSignal) => waitUntil(moment, world, signal),
    publish: (drafts: readonly unknown[]) => publish(service.publishPort, settings, drafts),
  }
  await drive(dues, door, stop)
}

async function publish(port: number, settings: ServiceSettings, drafts: readonly unknown[]): Promise<void> {
  const response = await fetch(`http://${settings.publishHost}:${port}/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${settings.tokens[0] ?? ''}`, 'content-type': 'application/json' },
    body: JSON.stringify(drafts),
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(`the door refused the simulator: ${answer}`)
}

async function waitUntil(moment: Ms, world: World, signal: AbortSignal): Promise<void> {
  const ms = moment - world.now()
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Whether a data directory holds a log that was not simulated: the demonstration must not go on in it. */
export function holdsRealLog(data: string): boolean {
  return hasStore(data) && !readStoreIdentity(data).simulated
}
