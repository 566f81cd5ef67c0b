import { Argument, Command, type Option } from 'commander'
import { LISTED_STATES } from '../../publish/door/held-list.ts'
import { HELD_DECISIONS, type HeldDecision } from '../../publish/door/held-requests.ts'
import { optionOf } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { decideHeld, listHeld } from './held.ts'

type HeldOptions = Readonly<{ to: string; tokenFile: string; json?: true }>

const MEANINGS: Readonly<Record<HeldDecision, string>> = {
  release:
    'check held drafts against the books again, and publish those that pass; never overrides the chain',
  vouch: 'say that a transaction is final in place of the chain, and publish the draft; counted in /status',
  drop: 'give held drafts up for ever',
}

/** The command `held`: the list of held drafts, and the decisions about them. */
export function heldCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('held')
  const own = (): readonly Option[] => [
    option(
      '--to <urls>',
      'address of the publish door; with several nodes, their addresses with commas',
    ).default('http://127.0.0.1:8081'),
    option('--token-file <file>', 'file with the publish token; required').makeOptionMandatory(),
    option('--json', 'JSON lines on a terminal too'),
  ]
  const held = new Command('held')
    .description('list the drafts that wait for the blockchain, and decide about them')
    .addHelpText(
      'after',
      `
Examples:
  daybook held --token-file token
  daybook held vouch payment-4711 --token-file token --reason 'Seen as final in the explorer'`,
    )
  const list = new Command('list')
    .description('list held drafts, in order of acceptance (the default)')
    .addOption(option('--state <name>', 'only drafts in this state').choices(LISTED_STATES))
    .action(async (options: HeldOptions & { state?: string }) => {
      const { to, tokenFile, json = false, state = null } = options
      done(await listHeld({ to, tokenFile, json, state }, world))
    })
  for (const one of own()) list.addOption(one)
  held.addCommand(list, { isDefault: true })
  for (const decision of HELD_DECISIONS) {
    const command = new Command(decision)
      .description(MEANINGS[decision])
      .addArgument(new Argument('<ref...>', 'refs of the drafts'))
      .addOption(
        option('--reason <text>', 'reason, which is never published; required').makeOptionMandatory(),
      )
      .action(async (refs: readonly string[], options: HeldOptions & { reason: string }) => {
        const { to, tokenFile, json = false, reason } = options
        done(await decideHeld(decision, { to, tokenFile, json, refs, reason }, world))
      })
    for (const one of own()) command.addOption(one)
    held.addCommand(command)
  }
  return held
}
