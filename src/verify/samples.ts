import type { DaybookEvent } from '../protocol/event.ts'
import { formatEvent } from '../protocol/event.ts'
import { parseUtf8 } from '../tlog/text.ts'
import type { Finding } from './finding.ts'
import { findingOf, WrongError } from './finding.ts'
import { objectsOf, readObject, wholeOf } from './json.ts'
import type { Source } from './source.ts'

/** Events of a page that is picked out, and such pages. */
const PAGE_EVENTS = 100
const PAGES = 3

/** Lines that other addresses than the archive have shown, to be held against the log's as they go by. */
export type Samples = Readonly<{
  pages: number
  wrong: Finding[]
  /** Takes the next event; what an address showed in its place is counted or wrong. */
  pass(event: DaybookEvent): void
}>

/** Asks for the newest page of events, for pages that chance picks, and for one event alone, of a log of this size. */
export async function askSamples(source: Source, size: number, chance: () => number): Promise<Samples> {
  const shown = new Map<number, { path: string; line: string }[]>()
  const wrong: Finding[] = []
  let pages = 0

  function show(path: string, seq: number, line: string): void {
    shown.set(seq, [...(shown.get(seq) ?? []), { path, line }])
  }

  async function page(path: string, first: number | null): Promise<void> {
    try {
      const body = await source.read(path)
      const events = body === undefined ? undefined : objectsOf(readObject(path, body)['events'])
      if (events === undefined) throw new WrongError(path, 'lacks its events')
      // The log may have grown since its size was told.
      const least = Math.min(PAGE_EVENTS, size)
      if (events.length < least || events.length > PAGE_EVENTS) {
        throw new WrongError(path, `has not ${least} events`)
      }
      for (const [index, event] of events.entries()) {
        const seq = wholeOf(event['seq'])
        const before = wholeOf(events[index - 1]?.['seq'])
        const expected = first === null ? (before === undefined ? seq : before - 1) : first + index
        if (seq === undefined || seq !== expected) throw new WrongError(path, 'leaves out or repeats a seq')
        show(path, seq, JSON.stringify(event))
      }
      pages += 1
    } catch (error) {
      wrong.push(findingOf(error))
    }
  }

  async function one(seq: number): Promise<void> {
    const path = `events/${seq}`
    const line = parseUtf8((await source.read(path)) ?? new Uint8Array(0)) ?? ''
    show(path, seq, line)
    pages += 1
  }

  if (size > 0) {
    await page(`events?order=desc&limit=${PAGE_EVENTS}`, null)
    for (let index = 0; index < PAGES; index++) {
      const after = Math.floor(chance() * Math.max(1, size - PAGE_EVENTS + 1))
      await page(`events?after=${after}&limit=${PAGE_EVENTS}`, after + 1)
    }
    await one(1 + Math.floor(chance() * size))
  }
  return {
    get pages() {
      return pages
    },
    wrong,
    pass(event) {
      for (const { path, line } of shown.get(event.seq) ?? []) {
        if (line !== formatEvent(event))
          wrong.push({ place: path, what: `seq ${event.seq} is not as in the archive` })
      }
      shown.delete(event.seq)
    },
  }
}

/** Nothing was picked out: a folder has no pages. */
export function noSamples(): Samples {
  return { pages: 0, wrong: [], pass: () => undefined }
}
