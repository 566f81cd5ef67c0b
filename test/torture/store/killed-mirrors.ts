import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildMirror } from '../../../src/mirror/build-mirror.ts'
import { assertMirrors, fastSettings, openOrigin } from '../../mirror/mirroring-stage.ts'
import { programEnv } from './driven-run.ts'
import type { KilledOperation } from './kill-operations.ts'

const HISTORY = 300
/** Events published after the history, in commits of this many. */
const COMMITS = [1, 120, 7] as const
/** Events behind from which on a mirror reads month files. */
const ARCHIVE_EVENTS = 100
const EVENTS = HISTORY + COMMITS.reduce<number>((sum, count) => sum + count, 0)
const NEXT_MONTH_DAYS = 35

type Origin = Awaited<ReturnType<typeof openOrigin>>
/** The followed service with all its events, and a mirror from before the newest of them. */
type Followed = Readonly<{ origin: Origin; older: string; folder: string }>

async function follow(): Promise<Followed> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirrors-'))
  const older = join(folder, 'older')
  const origin = await openOrigin(HISTORY)
  const settings = { ...fastSettings(origin.url(), older), archiveEventsMin: ARCHIVE_EVENTS }
  const listeners = { onProgress: () => undefined, signal: AbortSignal.timeout(60_000) }
  const built = await buildMirror(settings, listeners)
  if (built.is === 'contradicted') throw new Error(built.reason)
  for (const count of COMMITS) {
    await origin.trade(count)
    origin.clock.set(origin.later(NEXT_MONTH_DAYS))
  }
  return { origin, older, folder }
}

/** Opens the operations of a mirror that is killed. The service that it follows starts with the first of them. */
export function openKilledMirrors(): AsyncDisposable & Readonly<{ operations: readonly KilledOperation[] }> {
  let followed: Promise<Followed> | null = null
  let origin: Origin | null = null
  const opened = async (): Promise<Followed> => {
    followed ??= follow()
    const found = await followed
    origin = found.origin
    return found
  }
  const mirror = (name: string, isBuilt: boolean): KilledOperation => ({
    name,
    async prepare(root) {
      const { older } = await opened()
      if (isBuilt) cpSync(older, join(root, 'data'), { recursive: true })
    },
    command(root, _scratch, wish) {
      const words = [origin?.url() ?? '', join(root, 'data'), String(EVENTS), String(ARCHIVE_EVENTS)]
      const program = [process.execPath, join(import.meta.dirname, 'mirror-once.ts')]
      return [...programEnv(wish), ...program, ...words]
    },
    whilePublishing: false,
    events: EVENTS,
    outcome: (root) => assertMirrors(join(root, 'data'), origin?.data ?? ''),
  })
  return {
    operations: [mirror('the build of a mirror', false), mirror('a mirror that catches up', true)],
    async [Symbol.asyncDispose]() {
      if (followed === null) return
      const found = await followed
      await found.origin[Symbol.asyncDispose]()
      rmSync(found.folder, { recursive: true, force: true })
    },
  }
}
