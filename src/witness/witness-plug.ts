import { type Option, lazy } from '../command/plug/option.ts'

/**
 * Option of cosignatures (C2SP tlog-witness): a log asks witnesses to cosign its checkpoints, and a witness cosigns
 * those of other logs. The core verifies cosignatures (`tlog/quorum.ts`) and reads the newest checkpoint with a quorum
 * (`log/witnessed`). To read: `feed/feeder.ts` for the log's side, `cosigner/cosigner.ts` for the witness's.
 */
export const WITNESS: Option = {
  commands: [
    lazy('auditors', 'witness', async () => (await import('./command/witness-command.ts')).witnessCommand),
  ],
  serve: async () => (await import('./command/serve-witnessed.ts')).SERVE_WITNESSED,
  mirror: async () => (await import('./command/mirror-witness.ts')).COSIGNING_MIRROR,
}
