import type { Command } from 'commander'
import { WITNESSES_MAX } from '../../tlog/quorum.ts'
import type { FeedChoice } from '../../witness/feed/feed-settings.ts'
import { option, wholeBetween } from '../terminal/options.ts'
import { collectWitnesses, readWitnesses } from '../terminal/witness-option.ts'

export type FeedOptions = Readonly<{ witness: readonly string[]; witnessQuorum?: number }>

/** Adds the options that name the witnesses of a log. */
export function feedOptions(command: Command): Command {
  return command
    .addOption(
      option('--witness <vkey=url>', 'verifier key and address of a witness; may be repeated')
        .argParser(collectWitnesses)
        .default([], 'none'),
    )
    .addOption(
      option(
        '--witness-quorum <n>',
        'witnesses that must cosign a checkpoint (default: more than half)',
      ).argParser(wholeBetween(1, WITNESSES_MAX)),
    )
}

/** Witnesses of the options; null without any. Throws a `CommandError` that names the mistake. */
export function feedChoiceOf({ witness, witnessQuorum }: FeedOptions): FeedChoice | null {
  const choice = readWitnesses(witness, witnessQuorum, { quorum: '--witness-quorum', needsUrl: true })
  if (choice === null) return null
  const witnesses = choice.witnesses.flatMap(({ key, url }) => (url === null ? [] : [{ key, url }]))
  return { witnesses, quorum: choice.quorum }
}
