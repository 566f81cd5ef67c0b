import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { writeDrafts } from '../../../sim/draft-file.ts'
import { history, HISTORY_MS } from '../../../sim/history.ts'
import type { PublishDraft } from '../../../sim/import-draft.ts'
import { numberOf, refOf, REFS_FROM, REFS_TO } from '../../../sim/import-draft.ts'
import { drive, live } from '../../../sim/live.ts'
import { openRefs } from '../../log/store/refs.ts'
import { hasStore, readStoreIdentity, StoreError } from '../../log/store/store.ts'
import { assert } from '../../protocol/brand.ts'
import type { Ms } from '../../protocol/moment.ts'
import { floorTo, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { runImport } from './import-command.ts'
import { hostInUrl } from '../terminal/host-in-url.ts'
import { serve } from './serve.ts'
import type { Service, ServiceSettings } from '../service/service.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

/** The seed of the demonstration: the same story at every first start, told up to the present. */
const SEED = 'daybook'

/** Serves a simulated platform: three months of history at the first start, then live events every few seconds. */
export async function demo(settings: ServiceSettings, world: World, log: Logger): Promise<ExitCode> {
  if (!hasStore(settings.data)) {
    tell(world, 'The first start makes up three months of history of a platform that does not exist.')
    const failed = await makeHistory(settings, world)
    if (failed !== 0) return failed
  }
  return serve(settings, world, log, async (service, stop) => {
    const address = `http://${hostInUrl(settings.host)}:${service.port}`
    tell(world, `the pages: ${address}/ and the same as data: curl ${address}/api/v1/summary`)
    // The first page waits until the scripts of pages are bundled: whoever opens it in a moment need not.
    // At a stop it is given up: a drain would wait for it.
    void fetch(address, { signal: stop })
      .then((page) => page.body?.cancel())
      .catch((error: unknown) => {
        if (!stop.aborted) log.warn({ err: error }, 'no page was given')
      })
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
      {
        files: [file],
        data: settings.data,
        newLog: settings.newLog,
        keys: settings.signing.keys,
        balances: 'refuse',
      },
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
  // Only the story's own events count: others may have been published into the log by hand.
  using refs = openRefs(settings.data)
  const dues = live({
    seed: SEED,
    from,
    to: msOf(from + HISTORY_MS),
    published: numberOf(refs.lastBetween(REFS_FROM, REFS_TO)),
    now: world.now,
  })
  const until = (moment: Ms, signal: AbortSignal): Promise<void> => waitUntil(moment, world, signal)
  const door = {
    now: world.now,
    until,
    seqOf: (number: number) => refs.seqOf(refOf(number)),
    async publish(drafts: readonly PublishDraft[]) {
      while (!stop.aborted) {
        const sent = await send(service.publishPort, settings, drafts)
        if (sent === 'taken') return
        if (sent.refused !== null) return publishEach(drafts, sent.refused)
        await until(msOf(world.now() + RETRY_MS), stop)
      }
    },
  }
  /** What was published by hand may be at odds with the story: what does not fit any more is left out of it. */
  async function publishEach(drafts: readonly PublishDraft[], reason: string): Promise<void> {
    const [first] = drafts
    if (drafts.length === 1 && first !== undefined) {
      return tell(world, `the simulator leaves out ${first.type}/${first.kind} (${first.ref}): ${reason}`)
    }
    for (const draft of drafts) await door.publish([draft])
  }
  await drive(dues, door, stop)
}

/** Milliseconds until the simulator tries again when the door cannot take events. */
const RETRY_MS = 5_000

/** A request that was taken; one that was refused, with the reason; or one to try again (null). */
type SendResult = 'taken' | Readonly<{ refused: string | null }>

async function send(
  port: number,
  settings: ServiceSettings,
  drafts: readonly PublishDraft[],
): Promise<SendResult> {
  const address = `http://${hostInUrl(settings.publishHost)}:${port}/publish`
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${settings.tokens[0] ?? ''}`, 'content-type': 'application/json' },
    body: JSON.stringify(drafts),
  }).catch(() => null)
  if (response === null) return { refused: null }
  const answer = await response.text()
  if (response.ok) return 'taken'
  return { refused: response.status >= 500 ? null : answer }
}

async function waitUntil(moment: Ms, world: World, signal: AbortSignal): Promise<void> {
  const ms = moment - world.now()
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Whether a data directory holds a log that was not simulated: the demonstration must not go on in it. */
export function holdsRealLog(data: string): boolean {
  try {
    return hasStore(data) && !readStoreIdentity(data).simulated
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    // What is real cannot be told from what is made up here: nothing is removed unasked.
    const way = 'if all of it is made up, remove the folder, and a start makes it anew'
    throw new CommandError(1, `${data}: ${cause.message}; ${way}`, { cause })
  }
}
