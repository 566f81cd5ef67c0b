import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { endpointPath } from '../../client/endpoint-query.ts'
import { openClient, withCommandErrors } from '../terminal/client.ts'
import { printable, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { openDraftCounts } from './draft-counts.ts'
import type { DraftLine } from './draft-lines.ts'
import { draftLines } from './draft-lines.ts'
import { openDoor, sendDrafts } from './publish-door.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'
import { formatCount } from '../../protocol/amount.ts'

type PublishSettings = Readonly<{
  /** Path of a file of JSON lines, or null for standard input. */
  file: string | null
  to: string
  /** Public address of the log that the door must belong to; null for the log of its first answer. */
  url: string | null
  tokenFile: string
}>

/** Most drafts and bytes of one request. Each request is all or nothing. */
const REQUEST_DRAFTS = 1_000
const REQUEST_BYTES = 8 * 1024 * 1024

/**
 * Sends drafts to the publish door, in order. A retry never publishes an event twice: each draft has its ref. Exit code 1
 * when a draft is refused, and when one is never published because it failed or was dropped.
 */
export async function publish(settings: PublishSettings, input: Readable, world: World): Promise<ExitCode> {
  const anyDoor = openDoor(settings.to, settings.tokenFile, world)
  const total = settings.file === null ? 0 : sizeOf(settings.file)
  const source = settings.file === null ? input : createReadStream(settings.file)
  const name = settings.file === null ? 'standard input' : shellQuoted(settings.file)
  const progress = openProgress('publishing', 'bytes', world)
  let door = settings.url === null ? anyDoor : { ...anyDoor, log: await publicLog(settings.url, world) }
  const counts = openDraftCounts(world, world.stdout)
  try {
    let firstLine = 1
    let [bytes, drafts] = [0, 0]
    for await (const lines of batches(draftLines(source, name, world.stop), world.stop)) {
      const texts = lines.map(({ text }) => text)
      const answer = await sendDrafts(door, texts)
      if (!answer.ok) {
        progress.end()
        for (const { draft, field, reason } of [answer.failure, ...answer.failure.others]) {
          const line = draft === null ? '' : `line ${lines[draft]?.number ?? firstLine}`
          const place = [settings.file ?? 'standard input', line, field ?? ''].filter((part) => part !== '')
          tell(world, `${place.join(', ')}: ${printable(reason)}`)
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
      if (world.stop.aborted) break
    }
    if (world.stop.aborted) {
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
export async function publicLog(url: string, world: World): Promise<string | null> {
  const { ask } = openClient(url, world)
  const path = endpointPath('status', '')
  const { headers } = await withCommandErrors(() => ask.get(path, { signal: world.stop }))
  return headers.get('daybook-log')
}

function sizeOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandError(2, `the file ${shellQuoted(file)} does not exist`)
  if (found.isDirectory())
    throw new CommandError(2, `${shellQuoted(file)} is a folder; a file of drafts is needed`)
  return found.size
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
