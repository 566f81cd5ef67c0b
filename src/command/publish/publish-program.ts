import { Command } from 'commander'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { isPipe, publicLog, publishFile } from '../operator/publish-command.ts'
import { type PublishAccess, openPublishAccess } from '../operator/publish-client.ts'
import type { Option as PluggedOption } from '../plug/option.ts'
import { option } from '../terminal/options.ts'
import { shellQuoted } from '../terminal/output.ts'
import { CommandError, type ExitCode, type CommandContext } from '../terminal/command-context.ts'
import { publishInput } from './publish-input.ts'

/** Options that name the publish API. */
export type PublishOptions = Readonly<{ to: string; url?: string; tokenFile?: string }>

/** The command `publish`: drafts from a file, from an input that may never end, or from the source of an option. */
export async function publishCommand(
  context: CommandContext,
  input: Readable,
  done: (code: ExitCode) => void,
  plugged: readonly PluggedOption[],
): Promise<Command> {
  const parts = await Promise.all(plugged.flatMap(({ publish: load }) => load?.() ?? []))
  const publishAlone = new Command('publish')
    .description('send drafts to the publish API')
    .argument('[file]', 'drafts as JSON lines; - for standard input, the default')
    .addOption(
      option(
        '--to <urls>',
        'address of the publish API; with several nodes, their addresses with commas',
      ).default('http://127.0.0.1:8081'),
    )
    .addOption(option('--url <url>', 'address of the service: refuse a door that belongs to another log'))
    .addOption(option('--token-file <file>', 'file with the publish token; required to send drafts'))
    .addHelpText(
      'after',
      `
Examples:
  daybook publish drafts.jsonl --token-file token
  tail -n +1 -F drafts.jsonl | daybook publish - --token-file token`,
    )
  return parts
    .reduce((command, { add }) => add(command), publishAlone)
    .action(async (file: string | undefined, options: PublishOptions) => {
      const part = parts.find(({ isChosen }) => isChosen(options, file ?? null))
      if (part !== undefined) return done(await part.publish(options, context))
      done(await publishFrom(file ?? null, await openGivenDoor(options, context), input, context))
    })
}

async function publishFrom(
  file: string | null,
  door: PublishAccess,
  input: Readable,
  context: CommandContext,
): Promise<ExitCode> {
  const isInput = file === null || file === '-'
  const hasEnd = !isInput && !isPipe(file)
  if (isInput) return publishInput(input, 'standard input', door, context)
  if (hasEnd) return publishFile(file, door, context)
  return publishInput(createReadStream(file), shellQuoted(file), door, context)
}

/** Opens the door of the options, pinned to the log of the service at `--url`, if given. */
export async function openGivenDoor(
  { to, tokenFile, url }: PublishOptions,
  context: CommandContext,
): Promise<PublishAccess> {
  if (tokenFile === undefined) throw new CommandError(2, 'give the publish token with --token-file')
  const door = openPublishAccess(to, tokenFile, context)
  return url === undefined ? door : { ...door, log: await publicLog(url, context) }
}
