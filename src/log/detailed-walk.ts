import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'
import { seqOf } from '../protocol/seq.ts'
import { csvRowWithDetails } from './csv-rows.ts'
import { number, text } from './store/codec.ts'
import type { DetailedWalk, Framing, Walk, WalkResult } from './store/reader.ts'

/** Text of one event and its details line (null without details) in each framing but JSON. */
const FRAMES: Readonly<
  Record<Exclude<Framing, 'json'>, (seq: number, line: string, details: string | null) => string>
> = {
  ndjson: (_, line, details) => (details === null ? `${line}\n` : `${details}\n${line}\n`),
  sse: (seq, line, details) =>
    `${details === null ? '' : `event: details\ndata: ${details}\n\n`}id: ${seq}\ndata: ${line}\n\n`,
  csv: (seq, line, details) => csvRowWithDetails(line, details === null ? null : detailsIn(seq, details)),
}

/**
 * Opens the walk that reads events with their details, whose lines are taken from the store as they are. `walk` finds
 * the events. The result ends before the event that would make it longer than `bytesMax`, but has one event at least.
 */
export function openDetailedWalk(
  db: DatabaseSync,
  walk: (walk: Walk, framing: Framing) => WalkResult,
): (walk: Walk, framing: Framing, bytesMax: number) => DetailedWalk {
  // In the order of the list, so that reading can stop at the limit.
  const stored = db.prepare(
    'SELECT d.seq, d.line FROM json_each(?) CROSS JOIN details AS d ON d.seq = json_each.value',
  )
  return (asked, framing, bytesMax) => {
    const found = walk(asked, 'ndjson')
    const lines = Buffer.from(found.bytes).toString('utf8').split('\n').slice(0, -1)
    const seqs = lines.map(seqIn)
    const detailed = stored.iterate(JSON.stringify(seqs))[Symbol.iterator]()
    const nextDetails = (): Stored | undefined => {
      const { value, done } = detailed.next()
      return done === true ? undefined : { seq: number(value, 'seq'), line: text(value, 'line') }
    }
    const events: string[] = []
    const details: string[] = []
    let bytes = 0
    let next = nextDetails()
    for (const [index, line] of lines.entries()) {
      const seq = seqs[index] ?? 0
      const own = next?.seq === seq ? next.line : null
      const frame = framing === 'json' ? line : FRAMES[framing](seq, line, own)
      const member = framing === 'json' && own !== null ? `"${seq}":${detailsIn(seq, own)}` : null
      bytes += Buffer.byteLength(frame) + (member === null ? 0 : Buffer.byteLength(member)) + SEPARATORS
      if (bytes > bytesMax && index > 0) return cutAt(index)
      events.push(frame)
      if (member !== null) details.push(member)
      if (own !== null) next = nextDetails()
    }
    return { ...found, ...joined() }

    function joined(): Pick<DetailedWalk, 'bytes' | 'details'> {
      return {
        bytes: Buffer.from(events.join(framing === 'json' ? ',' : '')),
        details: Buffer.from(details.join(',')),
      }
    }

    function cutAt(count: number): DetailedWalk {
      // A statement that is not read to its end must not stay open.
      detailed.return?.()
      return { ...joined(), count, scannedTo: seqOf(seqs[count - 1] ?? 0), hasMore: true }
    }
  }
}

type Stored = Readonly<{ seq: number; line: string }>

/** Commas after an event and after its details. */
const SEPARATORS = 2

const LINE_START = '{"seq":'

function seqIn(line: string): number {
  const seq = Number(line.slice(LINE_START.length, line.indexOf(',')))
  assert(Number.isSafeInteger(seq), 'an event line begins with its seq')
  return seq
}

/** The details in their line, `{"seq":N,"details":{…}}`. */
function detailsIn(seq: number, line: string): string {
  const start = `${LINE_START}${seq},"details":`
  assert(line.startsWith(start), `the details line of ${seq} begins with its seq`)
  return line.slice(start.length, -1)
}
