import type { Readable } from 'node:stream'
import { type CommandContext, type ExitCode, pause, printNotice } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { openDraftCounts } from './draft-counts.ts'
import { draftLines } from './draft-lines.ts'
import { type DraftRow, type DraftSender, openTroubleReport, sendRows } from './draft-sender.ts'
import { openNotifier } from './notifier.ts'
import type { PublishAccess } from './publish-client.ts'

/**
 * Publishes the lines of an input that may never end, as they arrive and in order. `name` is the input's name in
 * messages. Retries without end while the publish API is unreachable, because the program that writes to a pipe could
 * not continue after an end. Exit code 1 when a draft is refused, failed or was dropped.
 */
export async function publishInput(
  input: Readable,
  name: string,
  access: PublishAccess,
  context: CommandContext,
): Promise<ExitCode> {
  const sender: DraftSender = { access, trouble: openTroubleReport(context) }
  const counts = openDraftCounts(context, context.stdout)
  let last = 0
  try {
    for await (const lines of inputLines(input, name, context.stop)) {
      const end = await sendRows(sender, lines, async (taken, receipts) => {
        taken.forEach(({ name: line }, index) => counts.add(line, receipts[index]?.status ?? ''))
        last = taken.at(-1)?.number ?? last
      })
      if (end.is === 'refused') {
        printNotice(context, `${name}, ${end.reason}`)
        return 1
      }
      counts.reportChange()
    }
  } finally {
    counts.report()
  }
  if (context.stop.aborted) {
    throw new CommandError(
      `stopped after line ${last}; to continue, send the input again: what is published already is skipped`,
    )
  }
  return counts.ended() > 0 ? 1 : 0
}

/** Time that a first line waits for others, so that they share a commit. */
const LINGER_MS = 50
/** Most lines that wait to be sent before the input is no longer read. */
const LINES_MAX = 2_000

/** A line of an input, with its number from 1. */
type InputLine = DraftRow & Readonly<{ number: number }>

/**
 * Yields the lines of an input that may never end; lines that arrive together are one batch. Ends with the input or at
 * a stop. Throws for a line that cannot be a draft, and for a failure to read, after it has yielded the lines before.
 * `name` is the input's name in that error.
 */
async function* inputLines(
  input: Readable,
  name: string,
  stop: AbortSignal,
): AsyncGenerator<readonly InputLine[], void, undefined> {
  const notifier = openNotifier(stop)
  const room = openNotifier(stop)
  const waiting: InputLine[] = []
  let isOver = false

  async function read(): Promise<void> {
    for await (const { number, text } of draftLines(input, name, stop)) {
      waiting.push({ name: `line ${number}`, number, line: text })
      notifier.notify()
      if (waiting.length < LINES_MAX) continue
      room.clear()
      await room.wait(null)
    }
  }
  const reading = read().finally(() => {
    isOver = true
    notifier.notify()
  })
  // Awaited below, unless a stop comes first.
  reading.catch(() => undefined)

  try {
    while (!stop.aborted) {
      if (waiting.length === 0) {
        if (isOver) return await reading
        notifier.clear()
        await notifier.wait(null)
        continue
      }
      if (!isOver && waiting.length < LINES_MAX) await pause(LINGER_MS, stop)
      yield waiting.splice(0)
      room.notify()
    }
  } finally {
    input.destroy()
    room.notify()
  }
}
