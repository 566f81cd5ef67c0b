import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { Argument } from 'commander'
import { endpointPath } from '../../client/endpoint-query.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { openClient, withCommandErrors } from '../terminal/client.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { option, TO_URLS } from '../terminal/options.ts'
import { printable, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { openDraftCounts } from './draft-counts.ts'
import { type DraftLine, draftLines } from './draft-lines.ts'
import { openPublishAccess, type PublishAccess, sendDrafts } from './publish-client.ts'
import { publishInput } from './publish-input.ts'

/** Options that name the publish API. */
export type PublishOptions = Readonly<{ to: string; url?: string; tokenFile?: string }>

/** The command `publish`: drafts from a file, from an input that may never end, or from the source of an option. */
export async function publishCommand(surroundings: ProgramContext): Promise<CommandSpec> {
  const { context, input, options: plugged } = surroundings
  const parts = await Promise.all(plugged.flatMap(({ publish: load }) => load?.() ?? []))
  const examples = `Examples:
  daybook publish drafts.jsonl --token-file token
  tail -n +1 -F drafts.jsonl | daybook publish - --token-file token`
  return {
    name: 'publish',
    description: 'send drafts to the publish API',
    arguments: [new Argument('[file]', 'drafts as JSON lines; - for standard input, the default')],
    options: [
      option('--to <urls>', TO_URLS).default('http://127.0.0.1:8081'),
      option('--url <url>', 'address of the service: refuse a publish API that belongs to another log'),
      option('--token-file <file>', 'file with the publish token; required to send drafts'),
      ...parts.flatMap(({ options }) => options),
    ],
    help: [examples, ...parts.map(({ help }) => help)].join('\n'),
    async run(file: string | undefined, options: PublishOptions) {
      const part = parts.find(({ isChosen }) => isChosen(options, file ?? null))
      if (part !== undefined) return await part.publish(options, context)
      return await publishFrom(file ?? null, await givenAccess(options, context), input, context)
    },
  }
}

async function publishFrom(
  file: string | null,
  access: PublishAccess,
  input: Readable,
  context: CommandContext,
): Promise<ExitCode> {
  const isInput = file === null || file === '-'
  const hasEnd = !isInput && !isPipe(file)
  if (isInput) return publishInput(input, 'standard input', access, context)
  if (hasEnd) return publishFile(file, access, context)
  return publishInput(createReadStream(file), shellQuoted(file), access, context)
}

/** Access from the options, pinned to the log of the service at `--url` if given. */
export async function givenAccess(
  { to, tokenFile, url }: PublishOptions,
  context: CommandContext,
): Promise<PublishAccess> {
  if (tokenFile === undefined) throw new UsageError('give the publish token with --token-file')
  const access = openPublishAccess(to, tokenFile, context)
  return url === undefined ? access : { ...access, log: await publicLog(url, context) }
}

/** Most drafts and bytes of one request. Each request is all or nothing. */
const REQUEST_DRAFTS = 1_000
const REQUEST_BYTES = 8 * 1024 * 1024

/**
 * Sends the drafts of a file to the publish API, in order. A retry never publishes an event twice, because each draft
 * has its ref. Exit code 1 when a draft is refused, failed or was dropped.
 */
async function publishFile(file: string, given: PublishAccess, context: CommandContext): Promise<ExitCode> {
  const total = statSync(file).size
  const source = createReadStream(file)
  const progress = openProgress('publishing', 'bytes', context)
  let access = given
  const counts = openDraftCounts(context, context.stdout)
  try {
    let firstLine = 1
    let [bytes, drafts] = [0, 0]
    for await (const lines of batches(draftLines(source, shellQuoted(file), context.stop), context.stop)) {
      const texts = lines.map(({ text }) => text)
      const answer = await sendDrafts(access, texts)
      if (!answer.ok) {
        progress.end()
        for (const { draft, field, reason } of [answer.failure, ...answer.failure.others]) {
          const line = draft === null ? '' : `line ${lines[draft]?.number ?? firstLine}`
          const place = [file, line, field ?? ''].filter((part) => part !== '')
          printNotice(context, `${place.join(', ')}: ${printable(reason)}`)
        }
        counts.report()
        return 1
      }
      for (const [index, { status }] of answer.receipts.entries()) {
        counts.add(`line ${lines[index]?.number ?? firstLine}`, status)
      }
      drafts += lines.length
      // The drafts of one run go into one log.
      access = { ...access, log: access.log ?? answer.log }
      firstLine = (lines.at(-1)?.number ?? 0) + 1
      bytes += lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
      progress.at(bytes, Math.max(total, bytes), ` | ${formatCount(drafts, 'draft')}`)
      if (context.stop.aborted) break
    }
    if (context.stop.aborted) {
      counts.report()
      throw new CommandError(`stopped before line ${firstLine}; repeat the command to continue`)
    }
  } finally {
    progress.end()
  }
  counts.report()
  return counts.ended() > 0 ? 1 : 0
}

/** Id of the log that a service serves. */
async function publicLog(url: string, context: CommandContext): Promise<string | null> {
  const { ask } = openClient(url, context)
  const path = endpointPath('status', '')
  const { headers } = await withCommandErrors(() => ask.get(path, { signal: context.stop }))
  return headers.get('daybook-log')
}

/** Whether a path is a pipe or a device, which may have no end; false for a file. Exit code 2 when it is neither. */
function isPipe(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new UsageError(`the file ${shellQuoted(path)} does not exist`)
  if (found.isDirectory())
    throw new UsageError(`${shellQuoted(path)} is a folder; a file of drafts is needed`)
  return !found.isFile()
}

async function* batches(
  lines: AsyncIterable<DraftLine>,
  stop: AbortSignal,
): AsyncGenerator<readonly DraftLine[]> {
  let batch: DraftLine[] = []
  let bytes = 0
  for await (const line of lines) {
    const size = Buffer.byteLength(line.text)
    if (batch.length === REQUEST_DRAFTS || bytes + size > REQUEST_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(line)
    bytes += size
  }
  // After a stop the input is incomplete, so the next run must send the last batch.
  if (batch.length > 0 && !stop.aborted) yield batch
}
