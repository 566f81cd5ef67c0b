import { lazy, type Option } from '../../command/plug/option.ts'

/**
 * Option that serves the log of another Daybook. It proves every line, builds its own store from them, and follows. It
 * trusts nothing that the origin computed. To read: `build-mirror.ts` for the first copy, `mirroring.ts` for the thread
 * that follows, `command/served-mirror.ts` for the service.
 */
export const MIRROR: Option = {
  commands: [lazy('auditors', 'mirror', async () => (await import('./mirror-command.ts')).mirrorCommand)],
}
