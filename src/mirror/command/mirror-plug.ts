import { lazy, type Option } from '../../command/plug/option.ts'

/**
 * The option that serves the log of another Daybook: it proves every line, builds a store of its own from them, and
 * follows. Nothing that the origin computed is believed. To read: `build-mirror.ts` for the first copy, `mirroring.ts` for
 * the thread that follows, `command/served-mirror.ts` for the service.
 */
export const MIRROR: Option = {
  commands: [lazy('auditors', 'mirror', async () => (await import('./mirror-program.ts')).mirrorCommand)],
}
