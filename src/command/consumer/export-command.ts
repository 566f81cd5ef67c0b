import type { Daybook } from '../../client/daybook.ts'
import { noGap } from '../../client/event-pages.ts'
import { isWanted } from '../../client/filter.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import { asCommandError, openClient, pauseOf } from '../terminal/client.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { optionOf, URL_ARGUMENT } from '../terminal/options.ts'
import { print, shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import {
  filterOf,
  type FilterOptions,
  filterOptions,
  OPTION_TIME_FORMS,
  seqNumber,
  timeOption,
} from './event-options.ts'
import { type EventFormat, openEventsText } from './output-events.ts'
import { type ListedSeqs, readEvents, readingParts } from '../../verify/reading/reading-parts.ts'
import { unknownCursorError } from './unknown-cursor.ts'
import type { CommandSpec, ProgramContext } from '../plug/option.ts'
import { askedAgain, nodeBehind } from '../../verify/reading/live-source.ts'

type ExportOptions = FilterOptions &
  Readonly<{ from?: Ms; to?: Ms; after: number; format: Exclude<EventFormat, 'table'> }>

/** The command `export`. */
export function exportCommand({ context }: ProgramContext): CommandSpec {
  const option = optionOf('export')
  const time = timeOption(context.now)
  return {
    name: 'export',
    description: 'print every event of a range as JSON lines or CSV, in few requests',
    arguments: [URL_ARGUMENT],
    options: [
      option('--from <time>', `begin at this moment: ${OPTION_TIME_FORMS}`).argParser(time),
      option('--to <time>', 'end before this moment (default: the head)').argParser(time),
      option('--after <seq>', 'only events with a greater seq').argParser(seqNumber).default(0),
      option('--format <name>', 'format of events').choices(['jsonl', 'csv']).default('jsonl'),
      ...filterOptions(option),
    ],
    help: `Example:
  daybook export https://data.example.org --from 2026-09 --to 2026-10 --format csv > september.csv`,
    run: (url: string, options: ExportOptions) => exportEvents(url, options, context),
  }
}

/**
 * Prints every event of a range: long months from their files, the rest in pages, so a year needs about a dozen requests.
 * A missing seq is an error, so the output is complete.
 *
 * CSV is made from the same files and pages, not from the whole CSV of `/events`. That file is not compressed, and one
 * that breaks off begins anew. A month file is compressed once, and continues after its last event.
 */
async function exportEvents(url: string, options: ExportOptions, context: CommandContext): Promise<ExitCode> {
  const { format, from, to } = options
  const filter = filterOf(options)
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError('--from must be before --to')
  const daybook = openClient(url, context)
  const text = openEventsText(format, { columns: 0, drawn: false })
  const progress = openProgress('exporting', 'events read', context)
  const run = { printed: 0, seq: options.after }
  try {
    const { after, end, head, months } = await boundsOf(daybook, options, context.stop)
    if (options.after > head && options.after > (await daybook.status({ signal: context.stop })).head.seq) {
      const cursor = { log: null, seq: options.after, url }
      const resume = (seq: number): string => `export ${shellQuoted(url)} --after ${seq}`
      throw await unknownCursorError({ ...cursor, resume }, daybook, context)
    }
    run.seq = after
    // The header is printed even without events.
    await print(text([]), context)
    for (const part of readingParts(months, after, end)) {
      for await (const events of readEvents(daybook, part, context.stop)) {
        const due = events.filter(({ seq }) => seq <= part.end)
        const wanted = due.filter((event) => isWanted(filter, event))
        for (const { seq } of due) {
          noGap(run.seq, seq)
          run.seq = seq
        }
        if (!(await print(text(wanted), context))) return 0
        run.printed += wanted.length
        progress.at(run.seq - after, end - after)
        if (run.seq >= part.end) break
      }
    }
    progress.end()
    printNotice(
      context,
      end > after
        ? `${formatCount(run.printed, 'event')} of seq ${after + 1} to ${end}`
        : 'the range has no events',
    )
    return 0
  } catch (error) {
    progress.end()
    if (!context.stop.aborted) {
      if (run.printed > 0) printNotice(context, `incomplete: the output ends after seq ${run.seq}`)
      throw asCommandError(error)
    }
    throw new CommandError(`stopped; continue with --after ${run.seq}`, { cause: error })
  } finally {
    progress.end()
  }
}

type Bounds = Readonly<{ after: number; end: number; head: number; months: readonly ListedSeqs[] }>

/** Converts the range of moments to seqs, and fixes the head: later events are not part of this export. */
async function boundsOf(
  daybook: Daybook,
  { from, to, after }: ExportOptions,
  signal: AbortSignal,
): Promise<Bounds> {
  const { months } = await daybook.archive({ signal })
  const head = months.at(-1)?.lastSeq ?? 0
  const seqBefore = async (time: Ms): Promise<number> => {
    const { after: seq, ends } = await askedAgain(
      pauseOf(signal),
      async () => {
        const { events, page } = await daybook.page({ from: time, limit: 1, signal })
        return { after: page.after ?? 0, ends: events.length === 0 }
      },
      // If a node has no event from then on, it must have the whole log. Otherwise it may lack events before that
      // moment.
      (found) => found.ends && found.after < head,
    )
    if (ends && seq < head) throw nodeBehind('the list of events', seq, head)
    return seq
  }
  return {
    after: Math.max(after, from === undefined ? 0 : await seqBefore(from)),
    end: Math.min(head, to === undefined ? head : await seqBefore(to)),
    head,
    months,
  }
}
