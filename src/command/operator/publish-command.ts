import { createReadStream, statSync } from 'node:fs'
import { endpointPath } from '../../client/endpoint-query.ts'
import { openClient, withCommandErrors } from '../terminal/client.ts'
import { printable, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { openDraftCounts } from './draft-counts.ts'
import { type DraftLine, draftLines } from './draft-lines.ts'
import { type PublishAccess, sendDrafts } from './publish-client.ts'
import { CommandError, type ExitCode, tell, type CommandContext } from '../terminal/command-context.ts'
import { formatCount } from '../../protocol/amount.ts'

/** Most drafts and bytes of one request. Each request is all or nothing. */
const REQUEST_DRAFTS = 1_000
const REQUEST_BYTES = 8 * 1024 * 1024

/**
 * Sends the drafts of a file to the publish API, in order. A retry never publishes an event twice: each draft has its ref. Exit code 1
 * when a draft is refused, and when one is never published because it failed or was dropped.
 */
export async function publishFile(
  file: string,
  anyDoor: PublishAccess,
  context: CommandContext,
): Promise<ExitCode> {
  const total = statSync(file).size
  const source = createReadStream(file)
  const progress = openProgress('publishing', 'bytes', context)
  let door = anyDoor
  const counts = openDraftCounts(context, context.stdout)
  try {
    let firstLine = 1
    let [bytes, drafts] = [0, 0]
    for await (const lines of batches(draftLines(source, shellQuoted(file), context.stop), context.stop)) {
      const texts = lines.map(({ text }) => text)
      const answer = await sendDrafts(door, texts)
      if (!answer.ok) {
        progress.end()
        for (const { draft, field, reason } of [answer.failure, ...answer.failure.others]) {
          const line = draft === null ? '' : `line ${lines[draft]?.number ?? firstLine}`
          const place = [file, line, field ?? ''].filter((part) => part !== '')
          tell(context, `${place.join(', ')}: ${printable(reason)}`)
        }
        counts.report()
        return 1
      }
      for (const [index, { status }] of answer.receipts.entries()) {
        counts.add(`line ${lines[index]?.number ?? firstLine}`, status)
      }
      drafts += lines.length
      // The drafts of one run go into one log.
      door = { ...door, log: door.log ?? answer.log }
      firstLine = (lines.at(-1)?.number ?? 0) + 1
      bytes += lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
      progress.at(bytes, Math.max(total, bytes), ` | ${formatCount(drafts, 'draft')}`)
      if (context.stop.aborted) break
    }
    if (context.stop.aborted) {
      counts.report()
      throw new CommandError(1, `stopped before line ${firstLine}; repeat the command to continue`)
    }
  } finally {
    progress.end()
  }
  counts.report()
  return counts.ended() > 0 ? 1 : 0
}

/** Id of the log that a service serves. */
export async function publicLog(url: string, context: CommandContext): Promise<string | null> {
  const { ask } = openClient(url, context)
  const path = endpointPath('status', '')
  const { headers } = await withCommandErrors(() => ask.get(path, { signal: context.stop }))
  return headers.get('daybook-log')
}

/** Whether a path is a pipe or a device, which may have no end; false for a file. Exit code 2 when it is neither. */
export function isPipe(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandError(2, `the file ${shellQuoted(path)} does not exist`)
  if (found.isDirectory())
    throw new CommandError(2, `${shellQuoted(path)} is a folder; a file of drafts is needed`)
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
  // After a stop the input is incomplete: the last batch is left for the next run.
  if (batch.length > 0 && !stop.aborted) yield batch
}
