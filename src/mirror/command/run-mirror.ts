import type { Surroundings } from '../../client/surroundings.ts'
import { hasStore } from '../../log/store/store.ts'
import { hasBuildingMirror } from '../book/building-mirror.ts'
import { buildMirror } from '../build-mirror.ts'
import { UnlistedKeyError } from '../../verify/trust.ts'
import type { MirrorProgress } from '../mirror-settings.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import { runToEnd } from '../../command/operator/node-ending.ts'
import { demandFreePort } from '../../command/service/taken-port.ts'
import { asCommandError, causeOf, fetchAllowed } from '../../command/terminal/client.ts'
import { openProgress } from '../../command/terminal/progress.ts'
import { type ExitCode, takeDirectory, type CommandContext } from '../../command/terminal/command-context.ts'
import { CommandError } from '../../command/terminal/command-error.ts'
import type { ServedMirrorSettings } from './served-mirror.ts'
import { hostInUrl } from '../../command/terminal/log-address.ts'

/** Milliseconds between two log lines about the progress of a build. */
const PROGRESS_MS = 10_000

/** Builds the mirror if there is none yet, then follows the origin and serves until a signal stops it. */
export async function runMirror(
  settings: ServedMirrorSettings,
  context: CommandContext,
  lines: LogLines,
): Promise<ExitCode> {
  const beganMs = context.monotonicMs()
  using _lock = takeDirectory(settings.data)
  await demandFreePort('--port', settings.host, settings.port)
  await demandFreePort('--ops-port', settings.opsHost, settings.opsPort)
  using _witnessLock = (await settings.witness?.take()) ?? null
  await build(settings, context, lines)
  // Loading the service takes most of a command's start.
  const { startMirror } = await import('./served-mirror.ts')
  const service = await startMirror(settings, context, lines)
  const { port, opsPort } = service
  lines.say('mirroring', {
    of: settings.mirrorOf,
    url: `http://${hostInUrl(settings.host)}:${port}`,
    privateUrl: `http://${hostInUrl(settings.opsHost)}:${opsPort}`,
    head: service.head(),
    ms: Math.round(context.monotonicMs() - beganMs),
  })
  return await runToEnd(service, { context, lines, drainMs: settings.drainMs })
}

/** Builds the mirror with a progress bar on a terminal, and log lines elsewhere. Does nothing when it is built. */
async function build(
  { followed }: ServedMirrorSettings,
  context: CommandContext,
  lines: LogLines,
): Promise<void> {
  const beganMs = context.monotonicMs()
  const progress = openProgress('mirroring', 'events', context)
  let nextMs = beganMs
  let worked = false
  function onProgress({ stage, done, total }: MirrorProgress): void {
    worked = true
    progress.at(done, total, ` · ${stage}`)
    if (context.monotonicMs() < nextMs) return
    nextMs = context.monotonicMs() + PROGRESS_MS
    lines.say('mirror-building', { stage, events: done, wantedEvents: total })
  }
  if (!hasStore(followed.dataDirectory)) lines.say('mirror-asking', { of: followed.url })
  try {
    const built = await buildMirror(
      { ...followed, now: context.now, around: { fetch: loggingFetch(lines, context.stop) } },
      { onProgress, signal: context.stop },
    )
    if (built.is === 'contradicted') {
      lines.say('origin-contradicts', { reason: built.reason, evidence: built.evidence })
      throw new CommandError(`the mirror is not built: ${built.reason}; the evidence is in ${built.evidence}`)
    }
    if (worked)
      lines.say('mirror-built', { events: built.events, ms: Math.round(context.monotonicMs() - beganMs) })
  } catch (error) {
    if (context.stop.aborted) throw new CommandError(stoppedWords(followed.dataDirectory))
    if (error instanceof UnlistedKeyError)
      throw new CommandError(unlistedWords(followed.url), { cause: error })
    throw asCommandError(error)
  } finally {
    progress.end()
  }
}

function stoppedWords(data: string): string {
  return hasBuildingMirror(data)
    ? 'stopped before the mirror was built: the next start continues'
    : 'stopped before the mirror was begun: nothing is kept'
}

function unlistedWords(url: string): string {
  return `the log at ${url} does not list the key of --vkey: compare the key with the one that the operator of the log has published; nothing was fetched`
}

/** `fetch` that logs why an attempt has failed, because the client retries silently for a while. */
function loggingFetch(lines: LogLines, stopped: AbortSignal): Surroundings['fetch'] {
  let logged = ''
  const log = (url: string, why: string): void => {
    const reason = `${url.replace(/\?.*$/s, '')}: ${why}`
    if (reason !== logged && !stopped.aborted) lines.say('origin-lost', { reason })
    logged = reason
  }
  return async (url, init) => {
    try {
      const answer = await fetchAllowed(url, init)
      if (answer.status >= 500 || answer.status === 429) log(url, `the service answered ${answer.status}`)
      return answer
    } catch (error) {
      log(url, error instanceof Error ? `${error.message}${causeOf(error)}` : String(error))
      throw error
    }
  }
}
