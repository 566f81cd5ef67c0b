import { openMainLines } from '../../src/command/log-lines/log-lines.ts'
import {
  type ServedMirror,
  type ServedMirrorSettings,
  startMirror,
} from '../../src/mirror/command/served-mirror.ts'
import { VERSION } from '../../src/command/terminal/version.ts'
import { buildMirror } from '../../src/mirror/build-mirror.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import { manualContext } from '../stage/manual-node.ts'

/** Builds and serves a mirror in this process, on free local ports. Its pages have the clock `now`. */
export async function startMirrorNode(
  data: string,
  url: string,
  now: () => Ms,
  settings: Partial<ServedMirrorSettings> = {},
): Promise<ServedMirror> {
  const context = manualContext(now)
  const followed = { url, dataDirectory: data, vkeys: [], followFormer: false, version: VERSION }
  const signal = AbortSignal.timeout(60_000)
  const built = await buildMirror({ ...followed, now, around: {} }, { onProgress: () => undefined, signal })
  if (built.is === 'contradicted') throw new Error(built.reason)
  const own: ServedMirrorSettings = {
    data,
    host: '127.0.0.1',
    port: 0,
    opsHost: '127.0.0.1',
    opsPort: 0,
    witness: null,
    verifyFirst: false,
    trustProxy: '',
    workers: 1,
    rateLimit: null,
    streamsMax: 1_000,
    drainMs: 0,
    mirrorOf: url,
    followed,
    ...settings,
  }
  return await startMirror(own, context, openMainLines(context))
}
