import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServedMirror } from '../../src/mirror/command/served-mirror.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { startMirrorNode } from '../mirror/mirror-stage.ts'
import { postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { TEST_KEY } from '../story/signing.ts'
import type { Cause } from './rule-test.ts'
import { type Scrape, scrape } from './scrape.ts'
import { BEHIND_WAITS_PER_CALLER } from '../../src/serve/following/head-waits.ts'

const NEW_LOG = { origin: 'daybook.test/mirrored', chain: 'opaque', simulated: false } as const
const WAIT_MS_MAX = 30_000
const PROVED_AND_AUDITED =
  /^(?=[^]*\ndaybook_mirror_proved_timestamp_seconds [1-9])(?=[^]*\ndaybook_audits_total [1-9])/
/** Age that a scrape has when the origin has been away for long. */
const AWAY_MS = 3_600_000

/** Causes that a mirror meets: its origin goes away, and comes back with another history. */
export async function mirrorCauses(folder: string): Promise<readonly Cause[]> {
  const clock = openSharedClock()
  clock.set(msOf(Date.now()))
  mkdirSync(folder)
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const serve = (data: string, port = 0) =>
    startLocalNode(data, NEW_LOG, [TEST_KEY], clock, { settings: { port } })
  const publish = async (service: Awaited<ReturnType<typeof serve>>, ref: string): Promise<void> => {
    const published = await postDrafts(service, [
      { ref, type: 'trade', kind: 'buy', kots: String(ref.length) },
    ])
    await published.text()
  }
  await (await serve(first))[Symbol.asyncDispose]()
  cpSync(first, second, { recursive: true })

  const origin = await serve(first)
  const { port } = origin
  await publish(origin, 'a')
  await using mirror = await startMirrorNode(join(folder, 'mirror'), `http://127.0.0.1:${port}`, clock.now)
  const healthy = await scrapeUntil(mirror, PROVED_AND_AUDITED)
  await origin[Symbol.asyncDispose]()
  const away = { ...healthy, atMs: healthy.atMs + AWAY_MS }
  await askBeyond(mirror)
  const behind = [await scrapeUntil(mirror, /\ndaybook_http_behind_total [1-9]/)]
  const by = 'readers that ask a late mirror for newer events'

  await using other = await serve(second, port)
  await publish(other, 'bb')
  await publish(other, 'ccc')
  const contradicted = await scrapeUntil(mirror, /\ndaybook_mirror_contradicted 1\n/)
  return [
    { alert: 'ErrorBudgetBurnsFast', by, healthy, ailing: behind, isNone: true },
    { alert: 'ErrorBudgetBurnsSlowly', by, healthy, ailing: behind, isNone: true },
    { alert: 'MirrorLate', by: 'an origin that is gone', healthy, ailing: [away], severity: 'ticket' },
    {
      alert: 'MirrorStopped',
      by: 'an origin with another history',
      healthy,
      ailing: [contradicted],
      severity: 'page',
    },
  ]
}

/** Asks for an event that the mirror does not have, as more readers than may wait. The others leave. */
async function askBeyond({ port }: ServedMirror): Promise<void> {
  const leaving = new AbortController()
  const asked = Array.from({ length: BEHIND_WAITS_PER_CALLER + 3 }, async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/api/v1/events/9`, { signal: leaving.signal })
    return status
  })
  assert.equal(await Promise.any(asked), 503)
  leaving.abort()
  await Promise.allSettled(asked)
}

/** Scrapes a mirror once its metrics are as wanted. */
async function scrapeUntil({ opsPort }: ServedMirror, wanted: RegExp): Promise<Scrape> {
  const lateMs = performance.now() + WAIT_MS_MAX
  while (!wanted.test(await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text())) {
    if (performance.now() > lateMs) throw new Error(`the metrics of a mirror never match ${String(wanted)}`)
    await sleep(50)
  }
  return await scrape(`http://127.0.0.1:${opsPort}`)
}
