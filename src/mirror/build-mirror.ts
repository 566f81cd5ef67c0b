import type { Contradicted, MirrorProgress, MirrorSettings } from './mirror-settings.ts'

/** A mirror that can be served, with the number of its events. `resumed`: an interrupted build was continued. */
export type MirrorBuilt = Readonly<{ is: 'ready'; events: number; resumed: boolean }>

/** How a build reports itself. */
export type MirrorBuildListeners = Readonly<{
  onProgress(progress: MirrorProgress): void
  signal: AbortSignal
}>

/**
 * Builds the mirror of a log in a data directory, and resolves when a checkpoint proves it. Returns at once when the
 * directory has a mirror of this log already. Continues an interrupted build. Nothing has the name of the store before
 * the build is proved. Throws a `StoreError` when the directory holds a log of its own, a `DaybookError` when the origin
 * cannot be read, and the signal's reason.
 */
export async function buildMirror(
  settings: MirrorSettings,
  listeners: MirrorBuildListeners,
): Promise<MirrorBuilt | Contradicted> {
  listeners.signal.throwIfAborted()
  throw new Error(`${settings.url} cannot be mirrored yet`)
}
